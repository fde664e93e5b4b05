"""For any query and any process names, replies can be parsed, text and JSON agree, and the rows
plus `everything else` add up to the machine's busy time."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.answers import Answer, ProcessRow, ask_http, ask_line, unescape
from tests.busiest import enough_ms
from tests.servers import RunningServer, running
from tests.truth.proc import TICK_NS, busy_ns
from tests.truth.programs import Life, living
from tests.waiting import wait_until

# From src/service/source/detail.h.
THREADS_READ_MOST, THREADS_SURE = 256, 16
# Two readings of the machine's busy time may differ by this much in either direction: each number
# in /proc/stat is rounded down to a tick, the source `bpf` may use one that is a tick old, during
# which every CPU may have been busy, and our numbers are truncated to microseconds.
SLACK_US = (4 + (os.cpu_count() or 1)) * TICK_NS / 1000 + 2 * 65
MANY = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Scans once, or twice for by=recent, and answers from that for a while."""
    options = ("--work", "snapshot", "--max-age", "1500")
    with running(tmp_path_factory.mktemp("still"), *options) as server:
        wait_until(
            lambda: not server.ask(b"top by=recent\n").startswith(b"error"), "no second scan"
        )
        yield server


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    options = ("--work", "snapshot", "--max-age", "0")
    with running(tmp_path_factory.mktemp("fresh"), *options) as server:
        yield server


@st.composite
def questions(draw: st.DrawFn) -> list[str]:
    group = draw(st.sampled_from(["", "group=name", "group=cgroup", "group=unit"]))
    details = [] if group else draw(st.lists(st.sampled_from(["threads", "command"]), unique=True))
    parameters = [f"n={draw(st.integers(1, 16 if 'threads' in details else 64))}"]
    parameters += [group] if group else [f"{detail}=1" for detail in details]
    if draw(st.booleans()):
        parameters.append("by=recent")
        if draw(st.booleans()):
            parameters.append(f"window={draw(st.integers(1, 60))}s")
    return draw(st.permutations(parameters))


def without_details(answer: Answer) -> Answer:
    """Threads keep running between two queries."""
    plain = [ProcessRow(row.number, row.user_us, row.system_us, row.name) for row in answer.rows]
    return replace(answer, rows=plain, elapsed=None)


@MANY
@given(parameters=questions())
def test_text_and_json_in_both_dialects_agree(still: RunningServer, parameters: list[str]) -> None:
    for _ in range(3):  # there may be a new scan between two queries
        answers = [
            ask(still, [*parameters, f"format={form}"])
            for form in ("text", "json")
            for ask in (ask_line, ask_http)
        ]
        plain = [without_details(answer) for answer in answers]
        if plain[0] == plain[-1]:
            break
    assert plain[0] == plain[1] == plain[2] == plain[3]
    for answer in answers:
        assert [row.us for row in answer.rows] == sorted((r.us for r in answer.rows), reverse=True)
        if "by=recent" not in parameters:
            assert answer.total_us <= busy_ns() / 1000 + SLACK_US
        for row in answer.rows:
            assert len(row.threads) == min(8, row.threads_alive)


@pytest.fixture(scope="module")
def namesake() -> Iterator[Life]:
    """A process that takes any name."""
    with living("named", str(enough_ms())) as it:
        yield it


names = st.one_of(
    st.binary(max_size=15),
    st.text(max_size=7).map(lambda text: text.encode("utf-8", "surrogatepass")[:15]),
    st.sampled_from(
        [
            b"a) R 1 (b",
            b"1 2 0.0 0.0 x\n",
            b"- - 1.0 1.0 (",
            b"# source x",
            b"+ 7 1.0 1.0 x",
            b"= x",
            b"\x1b]0;owned\x07",
            b"\xc2\x9b2J",
            "\u202eevil".encode(),
            "\u2066\u2069\u200f\u061c".encode(),
            "a\u2028b\u2029c".encode(),
            b'"\\"\\\\',
            b"\xff\xfe\xc3",
        ]
    ),
).map(lambda name: name.replace(b"\0", b""))


@MANY
@given(name=names)
def test_any_process_name_survives_and_forges_nothing(
    fresh: RunningServer, namesake: Life, name: bytes
) -> None:
    namesake.rename(name)
    for parameters in (["64"], ["64", "format=json"], ["64", "command=1"]):
        answer = ask_line(fresh, parameters)
        (row,) = (row for row in answer.rows if row.number == namesake.pid)
        assert unescape(row.name) == name


COMMANDS = [
    b"two\nlines\n- - 1.0 1.0 (everything else)",
    b'\x1b[2J\xc2\x9b \xff\xfe "quoted" \\back' + "\u202e\u2028".encode(),
    b"\n# source x ",
]


@pytest.mark.parametrize("argument", COMMANDS, ids=range(len(COMMANDS)))
def test_any_command_line_survives(fresh: RunningServer, argument: bytes) -> None:
    script = b"import time\nwhile time.process_time() < %f: pass\nprint(); " % (enough_ms() / 1000)
    command = [os.fsencode(sys.executable), b"-uc", script + b"input()", argument]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as burner:
        burner.stdout.read(1)
        answers = [ask_line(fresh, ["64", "command=1", *form]) for form in ([], ["format=json"])]
        burner.kill()
    for answer in answers:
        (row,) = (row for row in answer.rows if row.number == burner.pid)
        assert unescape(row.command) == b" ".join(command).rstrip(b" ")


def test_of_2000_threads_only_some_are_read(fresh: RunningServer) -> None:
    """The others are counted. Clients of the same event loop would wait meanwhile."""
    over = threading.Event()
    threading.stack_size(65536)
    waiting = [threading.Thread(target=over.wait, daemon=True) for _ in range(2000)]
    try:
        for thread in waiting:
            thread.start()
        while time.thread_time() < 0.5:
            pass
        answers = [ask_line(fresh, ["16", "threads=1", *form]) for form in ([], ["format=json"])]
    finally:
        over.set()
        threading.stack_size(0)
        for thread in waiting:
            thread.join()
    for answer in answers:
        read = [row.threads_alive - row.threads_unread for row in answer.rows]
        assert (
            THREADS_READ_MOST - 30 < sum(read) <= THREADS_READ_MOST
        )  # some threads have just ended
        (ours,) = (row for row in answer.rows if row.number == os.getpid())
        assert ours.threads_alive - ours.threads_unread >= THREADS_SURE
        assert ours.threads_alive >= 2001
        assert len(ours.threads) == 8
        assert ours.threads[0].tid == os.getpid()
        assert [t.us for t in ours.threads] == sorted((t.us for t in ours.threads), reverse=True)
