"""Programs that record the CPUs of a trial in its windows: samples of what they do, and a trace.

They themselves run on other CPUs where there are any. What they cost shows in the busy time of
sampled and traced trials, and is in no other trial.
"""

import os
import struct
import subprocess
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from regatta.errors import TrialError
from regatta.measure.accounts.requests import EVENT, traced
from regatta.measure.accounts.stacks import stacks
from regatta.measure.perf import Control, recorder, script
from regatta.measure.processes import guard_environment, guarded
from regatta.record.recordings import pack_stacks

FREQUENCY = 997
"""Samples a second and CPU: prime, so that it keeps no step with a load of even arrivals. On a
virtual machine each may cost 25 us."""
PERIOD_NS = 1e9 / FREQUENCY
STAY_AWAKE, LATENCY_US = Path("/dev/cpu_dma_latency"), struct.Struct("i")
"""Latency that CPUs may take to wake up, while the file is open."""
END_TIMEOUT_S, SCRIPT_TIMEOUT_S = 20, 120


class Recorder:
    """Records while its `control` is enabled; close it at the end."""

    def __init__(
        self, command: Sequence[str], folder: Path, name: str, cpus: Sequence[int]
    ) -> None:
        self.folder, self.name = folder, name
        self.open = ExitStack()
        self.control = Control(folder, name)
        self.open.callback(self.control.close)
        with (folder / f"{name}.stderr").open("wb") as stderr, self.control.ends() as ends:
            self.process = subprocess.Popen(
                guarded(command),
                stdin=ends[0],
                stdout=ends[1],
                stderr=stderr,
                cwd=folder,
                env=guard_environment(),
                start_new_session=True,
            )
        try:
            allowed = os.sched_getaffinity(0)
            os.sched_setaffinity(self.process.pid, allowed - set(cpus) or allowed)
            self.control.send("ping")
            self.control.wait()
        except TrialError as error:
            self.close()
            raise self.failed(error) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.open.close()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(END_TIMEOUT_S)

    def failed(self, error: object) -> TrialError:
        said = (self.folder / f"{self.name}.stderr").read_text(errors="replace").split("\n")
        return TrialError(f"nothing was recorded: {said[0] or error}")


class Sampler(Recorder):
    """Samples by `perf record`: each CPU is asked at a fixed rate, idle or not, so a sample stands
    for so much time, and all of them for the windows.

    The CPUs are kept from sleeping meanwhile: the clock of a CPU that sleeps ticks when something
    wakes it, and its samples would all fall on what it then does. So what waking costs is in no
    sample.
    """

    def __init__(self, perf: str, folder: Path, side: str, cpus: Sequence[int]) -> None:
        self.perf, name = perf, f"{side}.sampled"
        super().__init__(recorder(perf, name, FREQUENCY, cpus), folder, name, cpus)
        with suppress(OSError):
            awake = os.open(STAY_AWAKE, os.O_WRONLY | os.O_CLOEXEC)
            self.open.callback(os.close, awake)
            os.write(awake, LATENCY_US.pack(0))

    def stacks(self, *servers: int) -> bytes:
        """Ends it; the time of each stack, packed. `servers`: the server's process id, and those of
        what runs beside it."""
        try:
            self.end()
            done = subprocess.run(
                script(self.perf, self.name),
                capture_output=True,
                cwd=self.folder,
                timeout=SCRIPT_TIMEOUT_S,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise self.failed(error) from error
        found = Tally(stacks(done.stdout.decode(errors="replace"), *servers))
        if not found:
            raise self.failed("no samples")
        return pack_stacks({stack: round(count * PERIOD_NS) for stack, count in found.items()})


class Tracer(Recorder):
    """Writes down, by `regatta-trace`, when tasks run and what happens on connections."""

    def __init__(
        self, program: Path, port: str, folder: Path, side: str, cpus: Sequence[int]
    ) -> None:
        name = f"{side}.traced"
        self.events = folder / f"{name}.events"
        numbers = ",".join(map(str, cpus))
        super().__init__([str(program), port, numbers, str(self.events)], folder, name, cpus)

    def requests(self, connects: bool) -> bytes:
        """Ends it; where the time of the requests went, packed. `connects`: see Trace."""
        try:
            self.end()
            return traced(np.fromfile(self.events, EVENT), connects)
        except (subprocess.SubprocessError, OSError) as error:
            raise self.failed(error) from error


def why_no_trace(program: Path | None) -> str | None:
    """Why requests cannot be followed on this host; None if they can."""
    if program is None:
        return "regatta-trace is missing; build Regatta with libbpf, clang and bpftool"
    command = [str(program), "1", "0", os.devnull]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=END_TIMEOUT_S,
            check=False,
        )
    except (subprocess.SubprocessError, OSError) as error:
        return str(error)
    return done.stderr.strip() or "regatta-trace fails" if done.returncode else None
