"""Which lines of each parser the corpus reaches; fails if a file has too few.

usage: coverage.py GOAL EXPORT.json FILE... (scripts/fuzz coverage)"""

import json
import sys
from pathlib import Path


def main(goal: float, export: Path, wanted: list[str]) -> int:
    (data,) = json.loads(export.read_text())["data"]
    lines = {Path(file["filename"]).resolve(): file["summary"]["lines"] for file in data["files"]}
    short = []
    for name in wanted:
        found = lines.get(Path(name).resolve(), {"count": 0, "covered": 0, "percent": 0.0})
        print(
            f"{name:36} {found['covered']:4} of {found['count']:4} lines {found['percent']:6.1f} %"
        )
        if found["percent"] < goal:
            short.append(name)
    total = [lines[path] for path in map(Path.resolve, map(Path, wanted)) if path in lines]
    covered, count = (sum(found[key] for found in total) for key in ("covered", "count"))
    print(f"{'together':36} {covered:4} of {count:4} lines {100 * covered / count:6.1f} %")
    if short:
        print(f"fuzz: under {goal:g} % of lines: {' '.join(short)}", file=sys.stderr)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
