"""Races a study by netns, in containers and over hosts of namespaces, and compares the verdicts.

Where the study reads all processes, it spins instead: in a container there are fewer to read.
Packets are not steered, as over hosts they cannot be.

    .venv/bin/python -m tests.e2e.placements_agree --out races/placements

Needs root, podman and sshd. Each race keeps its report in a folder of --out. Exit status 1 if two
races tell the same two designs apart, but in opposite order.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.record.study import find_study
from regatta.show.numbers import plural
from tests.commands import run_well
from tests.container_engine import CONFIGURATION, STORAGE
from tests.e2e.racing import environment, regatta
from tests.namespaces import network

HERE = """
[placement]
steering = "none"
"""
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
        here.write_text(text + HERE)
        placed.write_text(text + OVER_HOSTS)
        race(str(here), out / "netns", "--placement", "netns", *options)
        with podman() as settings:
            race(str(here), out / "containers", "--placement", "containers", *options, **settings)
        with network(Path(folder) / "network", "alpha", "beta") as hosts:
            enter = tuple(hosts.enter)
            race(str(placed), out / "hosts", *options, prefix=enter, PATH=hosts.path())


def shown(raced: Analysis) -> Iterator[tuple[str, str, str]]:
    """Each step with two designs, of which the second is shown to need more than the first."""
    for group in raced.groups:
        for step, verdict in zip(group.steps, group.by_step, strict=True):
            where = f"{group.title}, {group.axis.at(step)}"
            for best, worse in product(verdict.best, verdict.worse):
                yield where, best, worse


def contradictions(races: dict[str, Analysis]) -> list[str]:
    """Pairs that two races both tell apart, but in opposite order."""
    return [
        f"{where}: {less} needs less than {more} by {first}, more by {second}"
        for first, second in combinations(races, 2)
        for where, less, more in shown(races[first])
        if (where, more, less) in set(shown(races[second]))
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
