"""`make test-real`: servers that people have, raced by `versus` beside an independent measurement.

usage: python -m tests.real [--pairs A:B,C:D] [--races N] [--time 2min] [--windows N]
                            [--seconds S] [--table]

Each race is stored as it ends, so that a run can be split; --table only prints what is stored, the
last race of each pair. Exit status 1: the last race of a pair and the truth disagree."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.real import race, table, truth
from tests.real.figures import Figures
from tests.real.servers import PAIRS, SERVERS
from tests.servers import built


def settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.real",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    every = ",".join(map(":".join, PAIRS))
    parser.add_argument("--pairs", default=every, help=f"default: {every}")
    parser.add_argument("--races", type=int, default=1, help="of each pair, beside one truth")
    parser.add_argument("--time", default="2min", help="of a race, for versus")
    parser.add_argument("--windows", type=int, default=4, help="of the truth, by either client")
    parser.add_argument("--seconds", type=int, default=10, help="of a window")
    parser.add_argument("--out", type=Path, default=Path(built("real.jsonl")))
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def compare(a: str, b: str, asked: argparse.Namespace) -> Iterator[table.Row]:
    """A row for each race. The truth is measured once, at the rate of the first with figures."""
    true: dict[str, Figures] = {}
    for _ in range(asked.races):
        raced = race.versus(a, b, asked.time)
        if not isinstance(raced, str):
            servers = (SERVERS[a], SERVERS[b])
            true = true or truth.measure(*servers, raced.place, asked.windows, asked.seconds)
        yield table.Row(a, b, raced, true)


def run(asked: argparse.Namespace) -> None:
    if not truth.OHA.exists():
        sys.exit("real: oha is missing; run: make test-real, which says why (it needs Rust and Go)")
    for a, b in (pair.split(":") for pair in asked.pairs.split(",")):
        lacks = SERVERS[a].lacks() or SERVERS[b].lacks()
        if lacks:
            print(f"real: {a}, {b}: skipped: {lacks} is missing", flush=True)
            continue
        for row in compare(a, b, asked):
            table.store(row, asked.out)
            print(f"real: {a}, {b}: {table.verdict(list(row.faults()))}", flush=True)


def main() -> None:
    asked = settings()
    if not asked.table:
        run(asked)
    last = table.stored(asked.out)
    print(table.markdown(last))
    sys.exit(any(line["faults"] for line in last))


if __name__ == "__main__":
    main()
