"""perf is asked once what it can open; what it cannot is left out; without it there is a note."""

from pathlib import Path

import pytest

from regatta.errors import TrialError
from regatta.measure import perf as perf_module
from regatta.measure.perf import GROUP, Control, Perf, probe

# Stands for perf: refuses what BAD says, and prints one line for each event else.
FAKE_PERF = """#!/bin/sh
[ "$1" = --version ] && { echo "perf version 9.9"; exit 0; }
case "$*" in *BAD*) echo "event syntax error: BAD" >&2; exit 129 ;; esac
case "$*" in
*-M*TopdownL1*) echo "Cannot find metric or group" >&2; exit 129 ;;
*-M*) echo '{"metric-value" : "VALUE", "metric-unit" : "%  retiring"}' >&2 ;;
*) echo '{"counter-value" : "1.0", "unit" : "msec", "event" : "task-clock"}' >&2 ;;
esac
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose perf is found and is a script that a test writes."""
    monkeypatch.setattr(perf_module, "find_tool", lambda name: str(tmp_path / name))
    return tmp_path / "perf"


def write(path: Path, bad: str, value: str = "nan") -> None:
    path.write_text(FAKE_PERF.replace("*BAD*", f"*{bad}*").replace("VALUE", value))
    path.chmod(0o755)


def test_everything_that_perf_accepts_is_opened(fake: Path) -> None:
    write(fake, bad="nothing-at-all")
    found = probe(("task-clock", "cycles", "syscalls"))
    assert found.openable == ("task-clock", "cycles", "syscalls")
    assert found.arguments(("cycles", "syscalls")) == ["-e", "cycles,raw_syscalls:sys_enter"]
    assert found.version == "perf version 9.9"
    assert found.note is None


def test_an_event_that_perf_refuses_costs_only_itself(fake: Path) -> None:
    write(fake, bad="raw_syscalls")
    found = probe(("task-clock", "cycles", "syscalls"))
    assert found.openable == ("task-clock", "cycles")
    assert found.arguments(("syscalls",)) == []
    assert found.command("server", ("syscalls",)) is None


def test_timed_trials_have_their_clock_even_if_the_study_lacks_it(fake: Path) -> None:
    write(fake, bad="nothing-at-all")
    assert probe(("cycles",)).openable == ("task-clock", "cycles")


@pytest.mark.parametrize(("value", "group"), [("25.0", "PipelineL1"), ("nan", None)])
def test_top_down_is_asked_for_only_where_it_is_counted(
    fake: Path, value: str, group: str | None
) -> None:
    write(fake, bad="nothing-at-all", value=value)
    found = probe(("task-clock", "topdown"))
    assert found.metric_group == group
    assert ("-M" in found.arguments(("task-clock", "topdown"))) == (group is not None)


def test_a_perf_that_may_not_count_is_a_note(fake: Path) -> None:
    write(fake, bad="task-clock")
    found = probe(("task-clock", "cycles"))
    assert found.path is None
    assert "perf_event_paranoid" in (found.note or "")
    assert "kernel's own accounting" in (found.note or "")


@pytest.mark.parametrize(
    ("complaint", "why"),
    [
        ("  Error: unknown option `control'", "Error: unknown option `control'"),
        (
            "Error:\nAccess to performance monitoring and observability operations is limited.",
            "Access to performance monitoring and observability operations is limited.",
        ),
        ("", "perf record fails"),
    ],
)
def test_a_perf_that_may_not_sample_says_why(fake: Path, complaint: str, why: str) -> None:
    write(fake, bad="nothing-at-all")
    counts = fake.read_text().partition("\n")[2]
    refuses = f'[ "$1" = record ] && {{ cat >&2 <<"."\n{complaint}\n.\nexit 129; }}\n'
    fake.write_text(f"#!/bin/sh\n{refuses}{counts}")
    found = probe(("task-clock",))
    assert found.no_samples == why
    assert found.openable == ("task-clock",)


@pytest.mark.parametrize(("address", "hidden"), [("ffffffff81000000", False), ("0" * 16, True)])
def test_samples_without_the_kernels_names_say_nothing(
    fake: Path, monkeypatch: pytest.MonkeyPatch, address: str, hidden: bool
) -> None:
    write(fake, bad="nothing-at-all")
    symbols = fake.parent / "kallsyms"
    symbols.write_text(f"{address} T _stext\n")
    monkeypatch.setattr(perf_module, "SYMBOLS", symbols)
    said = probe(("task-clock",)).no_samples
    assert said == (
        "the kernel hides the names of its functions (kernel.kptr_restrict)" if hidden else None
    )


def test_a_machine_without_perf_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf_module, "find_tool", lambda _: None)
    found = probe(("task-clock",))
    assert found.command("server", ("task-clock",)) is None
    assert "not installed" in (found.note or "")


@pytest.mark.parametrize("pid", [None, 77])
def test_perf_follows_a_group_on_the_cpus_of_its_side_or_else_threads(pid: int | None) -> None:
    """Those that a workload starts, or of a program that runs already."""
    found = Perf("perf", "9.9", ("task-clock",), by_group=True)
    assert found.follows == GROUP
    command = found.command("server", ("task-clock",), "box/x", (0, 2), pid)
    at = command.index("-a")
    assert command[at : at + 5] == ["-a", "-C", "0,2", "--for-each-cgroup", "box/x"]
    assert "--pid" not in command
    assert (command[-1] == "--") == (pid is None)
    threads = found.command("server", ("task-clock",), pid=pid)
    assert "-a" not in threads
    assert ("77" in threads) == (pid is not None)


def test_an_answer_of_perf_is_taken_with_its_nul_byte(tmp_path: Path) -> None:
    control = Control(tmp_path, "server")
    try:
        control.send("enable")
        assert (tmp_path / "server.control").is_fifo()
        with (tmp_path / "server.ack").open("wb", buffering=0) as ack:
            ack.write(b"ack\n\0")
            control.wait()
    finally:
        control.close()


def test_a_perf_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perf_module, "ACK_TIMEOUT_S", 0.05)
    control = Control(tmp_path, "server")
    with pytest.raises(TrialError, match="did not answer"):
        control.wait()
    control.close()
