"""scripts/findings: fills docs/findings/ from the ledgers of races."""

import csv
import os
from pathlib import Path

from tests.commands import Done, run
from tests.e2e.racing import ROOT, needs_programs
from tests.lab import synthetic
from tests.lab.record.every_input import STUDY, every_input


def findings(to: Path, *races: Path) -> Done:
    return run(ROOT / "scripts/findings", *races, env={**os.environ, "TO": str(to)}, timeout=300)


@needs_programs
def test_it_writes_verdicts_and_figures_of_a_race(tmp_path: Path) -> None:
    race, to = tmp_path / "race", tmp_path / "to"
    race.mkdir()
    to.mkdir()
    (to / "claim-E1.png").write_bytes(b"of an earlier run")
    synthetic.make(
        race / "ledger.sqlite",
        contenders=("iterative", "select"),
        connections=[1, 10],
        blocks=6,
        requests=20,
        study=STUDY,
        inputs=every_input(tmp_path),
    )
    done = findings(to, race)
    assert done.returncode == 0, done.stderr
    written = {path.name for path in to.iterdir()}
    assert written == {"quick.csv", "quick-verdicts.md", "claim-E1.png"}
    page = (to / "quick-verdicts.md").read_text().splitlines()
    assert page[0] == "# Every claim and its verdict: `quick`"
    assert [line.split(" ")[1] for line in page if line.startswith("| E")] == ["E1", "E2"]
    assert page[-1].startswith("“As they measured”"), "and how to read it"
    with (to / "quick.csv").open() as file:
        kinds = {row["row"] for row in csv.DictReader(file)}
    assert kinds == {"claim", "part", "figure"}, "published figures are in other files"
    assert (to / "claim-E1.png").read_bytes().startswith(b"\x89PNG")
