"""Faults during the start and the stop: the server serves or exits, with one line of reason if the
status is not 0."""

import contextlib
import os
import re
import select
import signal
import subprocess
from collections import Counter
from pathlib import Path

from tests.processes import children, tree
from tests.reliability.injection import LINE, Fault, Outcome, Trace, attached, tracing
from tests.reliability.serving_faults import OPTIONS, WORKERS
from tests.reliability.state import ask_ten, at_once
from tests.servers import (
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    ask_over,
    program,
    rows_of,
    running,
)

STAYING = 3


def end_problem(status: int, stderr: str) -> str | None:
    """None if it exits with status 0, or with 1 or 2 and a reason."""
    last = stderr.splitlines()[-1:]
    if status == 0 or (status in (1, 2) and last and last[0].startswith("regatta-server: ")):
        return None
    return f"it ended with status {status} and printed {last}"


def stop(design: ListedDesign, fault: Fault, folder: Path) -> tuple[Outcome, set[str]]:
    """Stops a server that has connected clients. Also returns its calls."""
    options = ("--design", design.name, *design.workers(WORKERS), *OPTIONS)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running(folder, *options))
        server.is_over = True  # its end is checked here
        for client in stack.enter_context(
            server.connect_many(min(STAYING, at_once(design, WORKERS)))
        ):
            rows_of(ask_over(client))
        with attached(tree(server.process.pid), folder, fault) as trace:
            server.process.send_signal(signal.SIGTERM)
            try:
                stderr = server.process.communicate(timeout=PATIENCE_S)[1].decode()
                problem = end_problem(server.process.returncode, stderr)
            except subprocess.TimeoutExpired:
                problem = "it does not exit"
                os.killpg(server.process.pid, signal.SIGKILL)
        return Outcome(fault, trace.injections, trace.crash or problem), trace.calls


OURS = re.compile(r"^openat\(AT_FDCWD, \"/dev/null\", O_RDWR", re.MULTILINE)
"""The first call of `main`, after those of the loader and the C library."""


def start(design: ListedDesign, fault: Fault, folder: Path) -> tuple[Outcome, Trace]:
    """Starts a server under strace. If it serves, it is tested and stopped."""
    trace = Trace(folder / "trace")
    ready_read, ready_write = os.pipe()
    # Children are not traced, because the fault would hit every new worker again.
    command = [*tracing(fault, trace, "-q"), program("regatta-server")]
    command += ["--quiet", "--listen", "127.0.0.1:0", "--ready-fd", str(ready_write)]
    command += ["--source", "procfs", "--design", design.name, *design.workers(WORKERS), *OPTIONS]
    with subprocess.Popen(
        command,
        pass_fds=(ready_write,),
        process_group=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(ready_write)
        try:
            problem = end_of(process, ready_read, design)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            os.close(ready_read)
    return Outcome(fault, trace.injections, trace.crash or problem), trace


def end_of(process: subprocess.Popen[bytes], ready_read: int, design: ListedDesign) -> str | None:
    """The problem until its end, if any."""
    if not select.select([ready_read], [], [], PATIENCE_S)[0]:
        return "it neither serves nor exits"
    line = os.read(ready_read, 200).decode()
    problem = None
    if line.startswith("ready "):
        server = RunningServer(process, line.split()[1], Path())
        problem = ask_ten(server, at_once(design, WORKERS))
        for pid in children(process.pid):
            os.kill(pid, signal.SIGTERM)
    try:
        stderr = process.communicate(timeout=PATIENCE_S)[1].decode()
    except subprocess.TimeoutExpired:
        return problem or "it does not exit"
    # It may be ready and then fail to allocate memory for its loop.
    if process.returncode != 0:
        problem = None
    return problem or end_problem(process.returncode, stderr)


def calls_of_start(trace: Trace) -> tuple[Counter[str], Counter[str]]:
    """Calls before `main`, and from there until it is ready."""
    text = trace.text
    found = OURS.search(text)
    assert found, "the first call of main is different"
    ours = text[found.start() : text.index('"ready ', found.start())]
    return count_calls(text[: found.start()]), count_calls(ours)


def count_calls(text: str) -> Counter[str]:
    return Counter(found["call"] for found in LINE.finditer(text) if found["call"])
