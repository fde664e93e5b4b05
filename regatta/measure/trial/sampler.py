"""Samples what a side's CPUs do in the windows of a trial, by `perf record`.

Each CPU is asked at a fixed rate, idle or not, so a sample stands for so much time, and all of them
for the windows. perf itself runs on other CPUs where there are any; on these, only its interrupt
does. What that costs shows in the busy time of sampled trials, and is in no other trial.

The CPUs are kept from sleeping meanwhile: the clock of a CPU that sleeps ticks when something wakes
it, and its samples would all fall on what it then does. So what waking costs is in no sample.
"""

import os
import struct
import subprocess
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from regatta.errors import TrialError
from regatta.measure.accounts.stacks import stacks
from regatta.measure.perf import Control, recorder, script
from regatta.measure.processes import guard_environment, guarded
from regatta.record.stacks import pack_stacks

FREQUENCY = 997
"""Samples a second and CPU: prime, so that it keeps no step with a load of even arrivals. On a
virtual machine each may cost 25 us."""
PERIOD_NS = 1e9 / FREQUENCY
STAY_AWAKE, LATENCY_US = Path("/dev/cpu_dma_latency"), struct.Struct("i")
"""Latency that CPUs may take to wake up, while the file is open."""
END_TIMEOUT_S, SCRIPT_TIMEOUT_S = 20, 120


class Sampler:
    """Samples while its `control` is enabled; close it at the end."""

    def __init__(self, perf: str, folder: Path, side: str, cpus: Sequence[int]) -> None:
        self.perf, self.folder, self.name = perf, folder, f"{side}.sampled"
        self.control = Control(folder, self.name)
        with (folder / f"{self.name}.stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                guarded(recorder(perf, self.name, FREQUENCY, cpus)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=folder,
                env=guard_environment(),
                start_new_session=True,
            )
        self.awake: int | None = None
        try:
            with suppress(OSError):
                self.awake = os.open(STAY_AWAKE, os.O_WRONLY | os.O_CLOEXEC)
                os.write(self.awake, LATENCY_US.pack(0))
            allowed = os.sched_getaffinity(0)
            os.sched_setaffinity(self.process.pid, allowed - set(cpus) or allowed)
            self.control.send("ping")
            self.control.wait()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.awake is not None:
            os.close(self.awake)
        self.control.close()

    def stacks(self, server: int) -> bytes:
        """Ends it; the time of each stack, packed. `server`: its process id."""
        self.process.terminate()
        try:
            self.process.wait(END_TIMEOUT_S)
            done = subprocess.run(
                script(self.perf, self.name),
                capture_output=True,
                cwd=self.folder,
                timeout=SCRIPT_TIMEOUT_S,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            said = (self.folder / f"{self.name}.stderr").read_text(errors="replace").split("\n")
            raise TrialError(f"perf took no samples: {said[0] or error}") from error
        found = Tally(stacks(done.stdout.decode(errors="replace"), server))
        if not found:
            raise TrialError("perf took no samples")
        return pack_stacks({stack: round(count * PERIOD_NS) for stack, count in found.items()})
