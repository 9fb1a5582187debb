"""Where a key comes from, and that it shows nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.models.keys import KEY_VARIABLES, find_key


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without keys."""
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_named_file_comes_first_then_the_environment_then_dotenv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest to the user's hand wins. [T-14]"""
    assert "" == find_key(folder=tmp_path)
    (tmp_path / ".env").write_text('# keys\nOTHER=x\nOPENAI_API_KEY="from $HOME dotenv"\n')
    assert "from $HOME dotenv" == find_key(folder=tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    assert "from-environment" == find_key(folder=tmp_path)
    (tmp_path / "key").write_text("from-file\n")
    assert "from-file" == find_key(tmp_path / "key", tmp_path)


@pytest.mark.parametrize("content", [b"", b"sk-canary-1 sk-canary-2", b"\xff\xfe-canary"])
def test_a_key_file_that_is_none_is_refused_without_showing_it(tmp_path: Path, content: bytes) -> None:
    """Errors name the place, never the content. [T-14]"""
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        find_key(path)
    assert str(path) in str(caught.value)
    assert "canary" not in str(caught.value)


def test_dotenv_is_not_put_into_the_environment(tmp_path: Path) -> None:
    """No child process inherits a key that stood in a file. [T-14]"""
    import os

    (tmp_path / ".env").write_text("STEELYARD_API_KEY=sk-canary\n")
    assert "sk-canary" == find_key(folder=tmp_path)
    assert "STEELYARD_API_KEY" not in os.environ
