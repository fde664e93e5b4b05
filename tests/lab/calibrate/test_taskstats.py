"""Parsing of the kernel's records of ended threads."""

import os
import struct
import threading
import time

import pytest

from regatta.calibrate.instruments import taskstats
from regatta.calibrate.instruments.taskstats import (
    Listener,
    TaskstatsError,
    attribute,
    attributes,
    ended,
    messages,
)

GENERIC_HEADER = b"\x01\x01\x00\x00"


def stats(version: int = 13, size: int = 416) -> bytes:
    """A struct taskstats of a thread 7 of process 5, a child of 3."""
    data = bytearray(size)
    struct.pack_into("=H", data, 0, version)
    struct.pack_into("=Q", data, 72, 1_000_001)  # cpu_run_virtual_total
    struct.pack_into("=II", data, 128, 7, 3)  # ac_pid, ac_ppid
    struct.pack_into("=QQ", data, 168, 11, 2)  # ac_minflt, ac_majflt
    struct.pack_into("=QQ", data, 272, 4, 5)  # nvcsw, nivcsw
    if size >= 372:
        struct.pack_into("=I", data, 368, 5)  # ac_tgid
    return bytes(data)


def record(body: bytes) -> bytes:
    """A message of the kernel, with the thread and the totals of its process."""
    one = attribute(1, struct.pack("=I", 7)) + attribute(taskstats.TYPE_STATS, body)
    whole = attribute(2, struct.pack("=I", 5)) + attribute(taskstats.TYPE_STATS, body)
    return GENERIC_HEADER + attribute(taskstats.TYPE_AGGR_PID, one) + attribute(5, whole)


def test_a_record_describes_one_thread() -> None:
    (found,) = ended(record(stats()))
    assert (found.process, found.parent) == (5, 3)
    assert (found.run_ns, found.page_faults) == (1_000_001, 13)


@pytest.mark.parametrize(("version", "size"), [(11, 416), (13, 360)])
def test_a_kernel_that_does_not_name_the_process_is_refused(version: int, size: int) -> None:
    with pytest.raises(TaskstatsError, match="do not name the process"):
        ended(record(stats(version, size)))


def test_the_version_with_moved_fields_is_refused() -> None:
    with pytest.raises(TaskstatsError, match="version 15.* have their fields elsewhere"):
        ended(record(stats(15, 544)))


@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_truncated_message_is_an_error(cut: int) -> None:
    whole = attribute(1, b"12345678" * 20)
    with pytest.raises(OSError, match="cut short"):
        list(attributes(whole[:-cut]))
    header = struct.pack("=IHHII", 16 + len(whole), 30, 0, 0, 0)
    assert list(messages(header + whole)) == [(30, whole)]
    with pytest.raises(OSError, match="cut short"):
        list(messages((header + whole)[:-cut]))


def spin(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_every_thread_that_ends_is_reported_with_its_cpu_time() -> None:
    try:
        listener = Listener()
    except TaskstatsError as error:
        pytest.skip(str(error))
    with listener:
        threads = [threading.Thread(target=spin, args=(0.03,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        child = os.fork()
        if child == 0:
            spin(0.03)
            os._exit(0)
        os.waitpid(child, 0)
        deadline = time.monotonic() + 5
        spun: list[int] = []
        while not all_told(spun, child) and time.monotonic() < deadline:
            spun += [one.process for one in listener.take() if one.run_ns >= 0.02e9]
            time.sleep(0.01)
    # Threads of a library may end meanwhile, too.
    assert all_told(spun, child), spun


def all_told(processes: list[int], child: int) -> bool:
    return processes.count(os.getpid()) >= 3 and processes.count(child) == 1
