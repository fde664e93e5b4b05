"""What a fleet takes as it grows (docs/hosts.md): hosts of namespaces that share this machine.

    .venv/bin/python -m tests.e2e.fleet_figures                     1 and 32 hosts, ten minutes
    .venv/bin/python -m tests.e2e.fleet_figures 1 4 --out FOLDER    keeps the reports

Needs root. Prints CSV: hosts, wall time, CPU time and peak memory of the lab with its ssh,
machines that finished.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.racing import environment, regatta, study
from tests.namespaces import network

HOSTS = (1, 32)
STUDY = """
[placement]
kind = "loopback"
[[cells]]
designs = ["select", "epoll"]
connections = [4]
work = "snapshot"
requests = 40
"""
BLOCKS = 6
COLUMNS = ("hosts", "seconds", "lab_cpu_s", "lab_peak_mib", "finished")


def figures(count: int, folder: Path) -> list[str]:
    """A row of the CSV. The race of each host is the same; all share the CPUs of this machine."""
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(study(STUDY, blocks=BLOCKS))
    names = [f"host{number}" for number in range(1, count + 1)]
    with (
        tempfile.TemporaryDirectory(prefix="rg") as short,
        network(Path(short) / "n", *names) as hosts,
    ):
        words = [word for name in names for word in ("--host", f"ssh://{name}")]
        command = regatta("collect", "study.toml", *words, "--out", "fleet", "--json")
        begun = time.monotonic()
        with (folder / "fleet.out").open("wb") as out:
            process = subprocess.Popen(
                [*hosts.enter, *command],
                cwd=folder,
                env={**environment(), "PATH": hosts.path()},
                stdout=out,
                stderr=sys.stderr,
            )
            _, _, used = os.wait4(process.pid, 0)
        took = time.monotonic() - begun
    machines = json.loads((folder / "fleet.out").read_text())["machines"]
    finished = sum(not machine["reason"] for machine in machines)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return [f"{count}", f"{took:.1f}", f"{cpu:.1f}", f"{peak:.0f}", f"{finished}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hosts", nargs="*", type=int, default=HOSTS)
    parser.add_argument("--out", type=Path, help="where to keep the reports")
    given = parser.parse_args()
    rows = csv.writer(sys.stdout)
    rows.writerow(COLUMNS)
    with tempfile.TemporaryDirectory() as name:
        for count in given.hosts:
            rows.writerow(figures(count, (given.out or Path(name)) / str(count)))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
