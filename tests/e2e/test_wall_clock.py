"""Nothing is timed by the time of day, which somebody may set: it only says to people when."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READS = r"CLOCK_REALTIME|\bgettimeofday\(|\btime\(NULL\)|\bclock_unix_ns\(\)"
MAY_READ = {
    "base/clock.c",  # clock_unix_ns
    "top/scan.c",  # when a snapshot was taken
    "server/stats.c",  # when the server started
    "exchange/http_reply.c",  # the header Date
    "watch/plain.c",  # the time above a table
    "watch/screen.c",
    "programs/regatta_client.c",  # what to add to a sample's time for the time of day
    # How long it waits for a thread before it looks whether to stop: with the clock set back that
    # look is late, by no more than a request may take.
    "engines/engine_thread.c",
}
READS_IN_PYTHON = r"(\btime\.|(?<![\w.]))time(_ns)?\(\)|datetime\.now|\.today\("
MAY_READ_IN_PYTHON = {
    "ledger/files.py",  # created_at
    "ledger/write.py",  # finished_at
    "trial/trial.py",  # started_at
    "race/matched/probe_server.py",  # started_at
    "race/sittings.py",  # started_at
    "calibrate/run.py",  # taken_at
    "doctor/hosts.py",  # which host's clock is behind: a certificate is not good there yet
}


def readers(folder: str, ending: str, reads: str) -> set[str]:
    root = ROOT / folder
    return {
        str(path.relative_to(root))
        for path in root.rglob(f"*{ending}")
        if re.search(reads, re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL))
    }


def test_the_programs_read_it_where_it_is_shown_alone() -> None:
    assert readers("src", ".c", READS) == MAY_READ


def test_the_lab_reads_it_to_note_when_something_was() -> None:
    assert readers("regatta", ".py", READS_IN_PYTHON) == MAY_READ_IN_PYTHON
