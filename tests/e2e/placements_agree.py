"""Races a study by netns, in containers and over hosts of namespaces, and compares the verdicts.

Where the study reads all processes, it spins instead: in a container there are fewer to read.

    .venv/bin/python -m tests.e2e.placements_agree --out races/placements

Needs root, podman and sshd. Each race keeps its report in a folder of --out. Exit status 1 if a
design is among the best in one race and shown to need more in another.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

from regatta.analysis.analyse import analyse
from regatta.analysis.results import Analysis
from regatta.compare.disagreements import BEST, WORSE, disagreements
from regatta.ledger.read import read
from regatta.ledger.schema import FILE_NAME
from regatta.report.text.numbers import plural
from regatta.study import find_study
from tests.commands import run_well
from tests.container_engine import CONFIGURATION, STORAGE
from tests.e2e.racing import environment, regatta
from tests.namespaces import network

OVER_HOSTS = """
[placement]
kind = "hosts"
server = "ssh://alpha"
clients = ["ssh://beta"]
"""
LIFE_S = 1800
SAME_EVERYWHERE = 'work = "spin=200us"'


def race(study: str, out: Path, *options: str, prefix: tuple[str, ...] = (), **more: str) -> None:
    command = (*prefix, *regatta("race", study, "--out", str(out), *options))
    run_well(*command, env={**environment(), **more}, timeout=LIFE_S)


@contextmanager
def podman() -> Iterator[dict[str, str]]:
    """Environment variables for podman with storage of its own, which needs a short path."""
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as name:
        found = {}
        for file, text in (("containers", CONFIGURATION), ("storage", STORAGE)):
            (Path(name) / f"{file}.conf").write_text(text.format(folder=name))
            key = "CONTAINERS_CONF" if file == "containers" else "CONTAINERS_STORAGE_CONF"
            found[key] = str(Path(name) / f"{file}.conf")
        yield found


def race_all(study: str, out: Path, *options: str) -> None:
    text = Path(find_study(study)).read_text().replace('work = "classic"', SAME_EVERYWHERE)
    with tempfile.TemporaryDirectory() as folder:
        here, placed = Path(folder) / "here.toml", Path(folder) / "placed.toml"
        here.write_text(text)
        placed.write_text(text + OVER_HOSTS)
        race(str(here), out / "netns", "--placement", "netns", *options)
        with podman() as settings:
            race(str(here), out / "containers", "--placement", "containers", *options, **settings)
        with network(Path(folder) / "network", "alpha", "beta") as hosts:
            enter = tuple(hosts.enter)
            race(str(placed), out / "hosts", *options, prefix=enter, PATH=hosts.path())


def contradictions(races: dict[str, Analysis]) -> list[str]:
    """Designs that are among the best in one race and shown to need more in another."""
    return [
        f"{one.where}, {one.what}: {first} {one.old}; {second} {one.new}"
        for first, second in combinations(races, 2)
        for one in disagreements(races[first], races[second])
        if any(BEST in end for end in (one.old, one.new))
        and any(WORSE in end for end in (one.old, one.new))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="placements_agree")
    parser.add_argument("--study", default="quick")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("options", nargs="*", help="of `regatta race`, after --")
    given = parser.parse_args()
    race_all(given.study, given.out, *given.options)
    raced = {
        name: analyse(read(given.out / name / FILE_NAME))
        for name in ("netns", "containers", "hosts")
    }
    verdicts = sum(len(group.by_step) for group in raced["netns"].groups)
    found = contradictions(raced)
    says = f"{plural(len(found), 'contradiction')} in {plural(verdicts, 'verdict')} by 3 placements"
    print(*found, says, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
