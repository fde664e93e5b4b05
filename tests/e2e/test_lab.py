"""`regatta lab` with the real programs: interrupted and continued, and at a terminal."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from regatta.record.schema import FILE_NAME
from regatta.teach.lab.steps.counting import counts_in, cpu_s
from tests.commands import run, run_well
from tests.e2e.racing import environment, needs_programs, regatta
from tests.e2e.terminal import in_terminal
from tests.ledgers import rows
from tests.processes import marked
from tests.waiting import wait_until

pytestmark = needs_programs
TWO = ("--quick", "--designs", "iterative,select", "--work", "snapshot", "--connections", "4")
PATIENCE_S = 60.0


def done(folder: Path) -> list[str]:
    path = folder / "lab/state.json"
    return list(json.loads(path.read_text())["done"]) if path.exists() else []


def trials(folder: Path) -> int:
    ledger = folder / "lab/single-runs" / FILE_NAME
    return rows(ledger, "SELECT count(*) FROM trial")[0][0] if ledger.exists() else 0


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A lab that was interrupted in its first race, and its output."""
    folder = tmp_path_factory.mktemp("stopped")
    lab = subprocess.Popen(
        regatta("lab", "--yes", *TWO, "--guess", "select"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(str(folder)),
    )
    wait_until(lambda: lab.poll() is not None or trials(folder) >= 4, "no race", PATIENCE_S)
    lab.send_signal(signal.SIGINT)
    shown, complaint = lab.communicate(timeout=PATIENCE_S)
    assert lab.returncode == 130, shown
    assert complaint.endswith(  # after the progress of the race
        "regatta: interrupted; finished steps are kept. Continue with: regatta lab --yes\n"
    )
    wait_until(lambda: not marked(folder), "a process is left")
    return folder, shown


def test_the_shown_commands_can_be_pasted(stopped: tuple[Path, str], tmp_path: Path) -> None:
    """Runs the commands of the table step in two shells, on a free port."""
    step = stopped[1].partition("Step 5 of 9")[2].partition("Step 6 of 9")[0]
    lines = [line.strip() for line in step.splitlines() if line.startswith("    ")]
    assert lines[2] == "Ctrl-C"
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    serve = lines[0].replace("--no-recorder", f"--no-recorder --listen {address}")
    ask = lines[1].replace("127.0.0.1:7342", address)
    assert address in ask
    (tmp_path / "lab/first").mkdir(parents=True)
    settings = {"cwd": tmp_path, "env": environment(str(tmp_path))}
    server = subprocess.Popen(["bash", "-c", serve], start_new_session=True, **settings)
    try:
        wait_until(lambda: run("bash", "-c", ask, **settings).returncode == 0, "no answer")
        os.killpg(server.pid, signal.SIGINT)
        server.wait(PATIENCE_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
    for side in ("server", "client"):
        assert cpu_s(counts_in(tmp_path / f"lab/first/select-{side}.txt"))


@pytest.mark.long
def test_it_continues_where_it_was_stopped(stopped: tuple[Path, str]) -> None:
    folder, _ = stopped
    assert done(folder) == ["server", "clients", "cpus", "perf", "table", "guess"]
    assert 4 <= trials(folder) < 20
    settings = {"cwd": folder, "env": environment(str(folder))}
    shown = run_well(*regatta("lab", "--yes"), timeout=120, **settings)
    assert "Step 7 of 9: Ten single runs" in shown
    assert "Step 6 of 9" not in shown
    assert len(done(folder)) == 9
    blocks = rows(folder / "lab/single-runs", "SELECT DISTINCT block, cell_id FROM trial")
    assert len(blocks) == trials(folder) == 20
    assert rows(folder / "lab/race", "SELECT DISTINCT status FROM trial") == [("ok",)]
    assert not marked(folder)
    report = (folder / "lab/report.md").read_text()
    assert "Not done yet" not in report
    verdicts = run_well(*regatta("collect", "lab/race", "lab/race"), **settings)
    assert "1 machine of 1 kind" in verdicts


def test_keys_lead_from_step_to_step(tmp_path: Path) -> None:
    command = regatta("lab", "--out", str(tmp_path / "lab"), *TWO)
    with in_terminal(*command, columns=110, lines=50, **environment(str(tmp_path))) as terminal:
        terminal.until("Step 1 of 9")
        terminal.until("q: stop here >")
        terminal.press("\r")
        terminal.until("answer.txt is missing")
        terminal.press("r\r")
        terminal.until("Step 2 of 9")
        terminal.until("q: stop here >")
        terminal.press("q\r")
        assert terminal.end() == 0
        assert "Continue with: regatta lab --out" in terminal.text
    assert done(tmp_path) == ["server"]
    answer = (tmp_path / "lab/answer.txt").read_text()
    assert answer.startswith("rank pid user_seconds system_seconds name\n")
