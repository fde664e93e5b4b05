"""`make test-real`: servers that people have, raced by `versus` beside an independent measurement.

usage: python -m tests.real [--pairs A:B,C:D] [--time 2min] [--windows N] [--seconds S] [--table]

Each pair is stored as it ends, so that a run can be split; --table only prints what is stored. Exit
status 1: a race and the truth disagree."""

import argparse
import sys
from pathlib import Path

from tests.real import race, table, truth
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
    parser.add_argument("--time", default="2min", help="of a race, for versus")
    parser.add_argument("--windows", type=int, default=4, help="of the truth, by either client")
    parser.add_argument("--seconds", type=int, default=10, help="of a window")
    parser.add_argument("--out", type=Path, default=Path(built("real.jsonl")))
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


def compare(a: str, b: str, asked: argparse.Namespace) -> table.Row:
    raced = race.versus(a, b, asked.time)
    if isinstance(raced, str):
        return table.Row(a, b, raced, {})
    servers = (SERVERS[a], SERVERS[b])
    return table.Row(
        a, b, raced, truth.measure(*servers, raced.place, asked.windows, asked.seconds)
    )


def run(asked: argparse.Namespace) -> None:
    if not truth.OHA.exists():
        sys.exit("real: oha is missing; run: make test-real, which says why (it needs Rust and Go)")
    for a, b in (pair.split(":") for pair in asked.pairs.split(",")):
        lacks = SERVERS[a].lacks() or SERVERS[b].lacks()
        if lacks:
            print(f"real: {a}, {b}: skipped: {lacks} is missing", flush=True)
            continue
        row = compare(a, b, asked)
        table.store(row, asked.out)
        print(f"real: {a}, {b}: {row.verdict()}", flush=True)


def main() -> None:
    asked = settings()
    if not asked.table:
        run(asked)
    rows = table.stored(asked.out)
    print(table.markdown(rows))
    sys.exit(any(list(row.faults()) for row in rows))


if __name__ == "__main__":
    main()
