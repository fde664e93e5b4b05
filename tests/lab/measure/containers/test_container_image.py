"""What our image is made of."""

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from regatta.errors import PlacementError
from regatta.measure.places.containers import engine
from regatta.measure.places.containers.engine import contents, libraries, pack, parse_ldd

LDD = """\
\tlinux-vdso.so.1 (0x00007ffd0b5d2000)
\tliburing.so.2 => /usr/lib/x86_64-linux-gnu/liburing.so.2 (0x00007f1)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f3)
"""


def test_the_loader_tells_what_a_program_needs() -> None:
    assert [str(path) for path in parse_ldd(LDD, Path("/x"))] == [
        "/usr/lib/x86_64-linux-gnu/liburing.so.2",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
    ]


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.raises(PlacementError, match=r"^/x lacks its library libodd.so.3; install it$"):
        parse_ldd("\tlibodd.so.3 => not found\n", Path("/x"))


def test_a_script_needs_its_own_image(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/usr/bin/python3\n")
    with pytest.raises(PlacementError, match=r"server is a script.* give the contender an `image`"):
        libraries(script)


def test_the_image_holds_the_tools_and_all_libraries_and_no_program() -> None:
    python, cat = Path(sys.executable).resolve(), Path(shutil.which("cat") or "")
    files = contents([python], [cat])
    assert cat in files
    assert python not in files
    assert {path.name for path in files} >= {"libc.so.6", "libm.so.6"}


def test_the_same_files_make_the_same_image(tmp_path: Path) -> None:
    file = tmp_path / "library.so"
    file.write_bytes(b"code")
    first = pack([file])
    file.touch()
    assert pack([file]) == first
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        assert [entry.name for entry in tar if entry.isdir()] == list(engine.FOLDERS)
        found = tar.extractfile(str(file).lstrip("/"))
        assert found
        assert found.read() == b"code"
    file.write_bytes(b"other")
    assert pack([file]) != first


def test_programs_run_on_what_is_in_it_alone(tmp_path: Path) -> None:
    cat = Path(shutil.which("cat") or "")
    with tarfile.open(fileobj=io.BytesIO(pack(contents([], [cat])))) as tar:
        tar.extractall(tmp_path)
    command = ["unshare", "--map-root-user", "chroot", str(tmp_path), str(cat)]
    done = subprocess.run(command, input=b"meow", capture_output=True, check=False)
    assert done.stdout == b"meow", done.stderr
