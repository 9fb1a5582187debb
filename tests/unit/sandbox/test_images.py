"""Images are built from this machine, equal for equal files."""

from __future__ import annotations

import pytest

from steelyard.cli.dispatch import dispatch
from steelyard.errors import InputError
from steelyard.ports import SandboxSpec
from steelyard.sandbox.docker import DockerSandbox
from steelyard.sandbox.engine import RECIPES, find_image
from steelyard.sandbox.images import build, listed
from steelyard.store import Store


@pytest.mark.docker
def test_an_unknown_recipe_is_refused_with_the_nearest(docker: DockerSandbox) -> None:
    """The known ones are helped to. [O-11]"""
    with pytest.raises(InputError, match='did you mean "python"'):
        build(docker._engine, "pyhton")


@pytest.mark.docker
def test_building_again_keeps_the_image_and_its_digest(docker: DockerSandbox) -> None:
    """Equal files make an equal layer, so that records of earlier runs still name the image that is here. [O-1]"""
    before = find_image(docker._engine, "python")
    again = build(docker._engine, "python")
    assert (False, before.id) == (again.changed, again.image.id)
    assert set(RECIPES) == set(listed(docker._engine))


@pytest.mark.docker
def test_the_python_inside_has_its_library_and_nobody_s_packages(docker: DockerSandbox, store: Store) -> None:
    """The shared objects of the standard library load; nothing that was installed is there. [O-1]"""
    session = docker.open(SandboxSpec(), store)
    code = (
        "import bz2, ctypes, decimal, hashlib, json, lzma, readline, sqlite3, ssl, unittest, uuid, zlib, zoneinfo\n"
        "import importlib.util as u; print([n for n in ('pytest', 'msgspec', 'pip', 'steelyard') if u.find_spec(n)])"
    )
    result = session.run(["python3", "-c", code])
    session.close()
    assert (0, b"[]\n") == (result.rc, result.output)


@pytest.mark.docker
def test_scratch_without_a_static_busybox_says_what_to_install(
    docker: DockerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is named. [O-11]"""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(InputError, match="busybox-static"):
        build(docker._engine, "scratch")


@pytest.mark.docker
def test_the_command_lists_and_builds(docker: DockerSandbox, capsys: pytest.CaptureFixture[str]) -> None:
    """`steelyard image list` shows the digest that records hold; an unknown recipe exits 2. [O-11]"""
    assert 0 == dispatch(["image", "list"], {"image": ""})
    assert docker.name.split()[2] in capsys.readouterr().out
    assert 2 == dispatch(["image", "build", "pyhton"], {"image": ""})
    assert 'did you mean "python"' in capsys.readouterr().err
