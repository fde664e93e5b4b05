"""Bodies of 1 B to 64 MiB, down and up, in one piece and in chunks, and compressed ones."""

import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.racing import environment, needs_programs, needs_two_cpus, regatta
from tests.e2e.upload_server import content
from tests.ledgers import rows
from tests.servers import program

SCRIPT = Path(__file__).with_name("upload_server.py")
SIZES = [1, 4096, 65_536, 1 << 20, pytest.param(64 << 20, marks=pytest.mark.long)]
HEAD_LIMIT = 400
TIMES = 2

pytestmark = needs_programs


@contextmanager
def bodies() -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its address, and the process, which prints what it is sent."""
    command = [sys.executable, "-S", str(SCRIPT), "0"]
    environ = {**environment(), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as server:
        try:
            assert server.stdout
            yield f"127.0.0.1:{server.stdout.readline().split()[1]}", server
        finally:
            server.kill()


def asked(*options: str, times: int = TIMES) -> dict[str, int]:
    """All are answered; bytes received within the limits of so many heads."""
    words = ("--dialect", "http", "--json", "--rounds", times, "--timeout", "60000")
    done = run(program("regatta-client"), *words, *options)
    assert done.returncode == 0, done.stderr
    result: dict[str, int] = json.loads(done.stdout)
    assert (result["requests"], result["answered"]) == (times, times)
    return result


@pytest.mark.parametrize("engine", ["epoll", "thread"])
@pytest.mark.parametrize("how", ["length", "chunked", "gzip"])
@pytest.mark.parametrize("size", SIZES)
def test_what_comes_is_read_to_its_last_byte(
    tmp_path: Path, size: int, how: str, engine: str
) -> None:
    body = content(size) if how != "gzip" else gzip.compress(content(size), 1, mtime=0)
    line = f"1 GET /{how}/{size} HTTP/1.1\\r\\nAccept-Encoding: gzip\\r\\n\\r\\n\n"
    (tmp_path / "asked").write_text(line)
    (tmp_path / "right").write_text(f"200 {len(body)} {len(body)} {zlib.crc32(body):08x}\n")
    (tmp_path / "wrong").write_text(f"200 {len(body)} {len(body)} {zlib.crc32(body) ^ 1:08x}\n")
    words = ("--requests", str(tmp_path / "asked"), "--engine", engine, "--expect")
    with bodies() as (address, _):
        result = asked(*words, str(tmp_path / "right"), address)
        done = run(
            program("regatta-client"), "--dialect", "http", *words, tmp_path / "wrong", address
        )
    assert done.returncode == 1
    pieces = -(-len(body) // 70_001) + 1 if how == "chunked" else 0
    extra = result["bytes_received"] / TIMES - len(body)
    assert 0 < extra <= HEAD_LIMIT + 10 * pieces


def escaped(body: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in body)


@pytest.mark.parametrize("engine", ["epoll", "thread"])
@pytest.mark.parametrize("size", [*SIZES, 0])
def test_a_file_arrives_as_it_is(tmp_path: Path, size: int, engine: str) -> None:
    body = content(size)
    (tmp_path / "file").write_bytes(body)
    words = ("--path", "/up", "--body", str(tmp_path / "file"), "--engine", engine)
    with bodies() as (address, server):
        asked(*words, address)
        assert server.stdout
        said = [server.stdout.readline() for _ in range(TIMES)]
    assert said == [f"length {size} {zlib.crc32(body):08x}\n"] * TIMES


@pytest.mark.parametrize("size", [0, 1, 4096, 65_536, 1 << 20])
def test_a_request_in_chunks_arrives_in_chunks(tmp_path: Path, size: int) -> None:
    body = bytes(byte % 26 + 97 for byte in content(size))
    lines = [f"{len(of):x}\\r\\n{of.decode()}\\r\\n" for of in (body, b"")[not body :]]
    head = "1 POST /up HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    (tmp_path / "asked").write_text(f"{head}{''.join(lines)}\n")
    with bodies() as (address, server):
        asked("--requests", str(tmp_path / "asked"), address)
        assert server.stdout
        said = [server.stdout.readline() for _ in range(TIMES)]
    assert said == [f"chunked {size} {zlib.crc32(body):08x}\n"] * TIMES


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--body", "none"), "--body needs --path, to which it is posted"),
        (("--path", "/", "--body", "none"), "--body none: it cannot be read"),
        (("--path", "/", "--body", "huge"), "--body huge: it is larger than 256 MiB"),
    ],
)
def test_no_body_is_a_line(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate((256 << 20) + 1)
    done = run(program("regatta-client"), "--dialect", "http", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


@pytest.mark.long
@needs_two_cpus
def test_versus_posts_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content(1 << 20))
    server = f"{sys.executable} {SCRIPT} {{port}}"
    words = ("--path", "/up", "--body", "file", "--time", "1s", "--warmup-limit", "0")
    words += ("--connections", "1", "--out", "race", "--json")
    command = regatta("versus", f"a={server}", f"b={server}", *words)
    done = run(*command, cwd=tmp_path, env=environment(), timeout=100)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)["looked_at"]
    assert not [note for note in seen if "connections" in note or "differ" in note]
    names = {name for (name,) in rows(tmp_path / "race", "SELECT requests FROM cell")}
    assert {(name or "").partition(" ")[0] for name in names} == {"file"}
