"""A race on a full disk: it reports it, and can be resumed after space is freed."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.racing import assert_complete, end_well, environment, needs_programs, regatta, study
from tests.ledgers import rows

CELLS = """
[[cells]]
designs = ["iterative", "select"]
connections = [1, 4]
requests = 400
"""
STUDY = study(CELLS, blocks=3, counted_blocks=1)
ENOUGH = "64m"

pytestmark = needs_programs


@contextlib.contextmanager
def disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of this size."""
    place = folder / "disk"
    place.mkdir()
    if run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="to mount a file system needs root")
@pytest.mark.parametrize(
    "size",
    ["256k", *(pytest.param(size, marks=pytest.mark.long) for size in ("16k", "512k", "1m"))],
)
def test_a_full_disk_is_reported_and_the_race_can_be_resumed(size: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    with disk(tmp_path, size) as place:
        out = place / "race"
        command = regatta("race", str(tmp_path / "study.toml"), "--out", str(out))
        done = run(*command, cwd=tmp_path, env=environment(), timeout=300)
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr
        assert "space" in done.stderr or "full" in done.stderr, done.stderr
        begun = (out / "ledger.sqlite").exists()
        finished = rows(out, "SELECT * FROM trial ORDER BY id") if begun else []
        subprocess.run(["mount", "-o", f"remount,size={ENOUGH}", str(place)], check=True)
        end_well(tmp_path, *(("race", "--resume", str(out)) if begun else command[3:]))
        found = rows(out, "SELECT * FROM trial ORDER BY id")
        assert found[: len(finished)] == finished
        assert_complete(out)
        assert {path.name for path in out.iterdir()} >= {"report.html", "summary.csv"}
