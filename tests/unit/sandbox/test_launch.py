"""Launchers: what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.sandbox import launch


@pytest.mark.parametrize("argv", [[], [""], ["-c", "x"], ["echo", "a\0b"]])
def test_what_no_launcher_can_start_is_refused(argv: list[str]) -> None:
    """A command needs a program first and holds no NUL. [O-22]"""
    with pytest.raises(InputError):
        launch.check_command(argv)


@pytest.mark.parametrize(
    "place", ["tests", "/", "/work/tests", "/usr/lib/x", "/tests/../etc", "/opt/python", "/tests/"]
)
def test_a_mount_that_would_hide_the_system_is_refused(place: str) -> None:
    """Hidden files get a folder of their own. [O-5]"""
    with pytest.raises(InputError):
        launch.check_mount(place)
    launch.check_mount("/tests")


def test_an_environment_name_that_is_none_is_refused() -> None:
    """Names are letters, digits and underscores. [O-27]"""
    with pytest.raises(InputError, match="not an environment variable"):
        launch.check_env({"A=B": "x"})


@pytest.mark.parametrize(
    ("rc", "why"),
    [(0, "exit"), (1, "exit"), (128, "exit"), (137, "signal"), (153, "disk"), (-9, "signal"), (200, "exit")],
)
def test_an_exit_code_says_why_a_command_ended(rc: int, why: str) -> None:
    """128+n is signal n, and SIGXFSZ is a file over its limit. [O-22]"""
    assert why == launch.why_of(rc)


def test_a_python_whose_prefix_holds_the_working_folder_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Showing it would show the project; the system's Python is used instead. [O-5]"""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").touch()
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setattr("sys.base_prefix", str(tmp_path))
    assert 3 == len(launch.views(tmp_path))
    monkeypatch.chdir(project)
    assert [["/usr"]] == [view.shown for view in launch.views(tmp_path)]
