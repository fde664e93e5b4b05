"""The charts of a report as files."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regatta.errors import RegattaError
from regatta.show.build import view_of
from regatta.show.pictures import WIDTHS, picture, write_pictures
from regatta.show.view import Chart
from tests.lab import reports
from tests.lab.synthetic import make

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("race")
    return make(folder / "ledger.sqlite", connections=[1, 10], blocks=3, requests=20)


@pytest.fixture(scope="module")
def written(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_pictures(charts(ledger), tmp_path_factory.mktemp("pictures") / "new" / "folder")


def charts(ledger: Path) -> list[Chart]:
    return list(view_of(reports.analysed(ledger)).charts())


def test_every_chart_is_a_picture_in_both_schemes(ledger: Path, written: list[Path]) -> None:
    names = {path.name for path in written}
    assert {"server-cpu_time_per_request_us.png", "latency-10-dark.png"} <= names
    assert {name for name in names if not name.endswith("-dark.png")} == {
        f"{chart.name}.png" for chart in charts(ledger)
    }
    for path in written:
        head = path.read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:24])
        assert head.startswith(PNG)
        assert width > WIDTHS[1]
        assert height > 150
    light, dark = (written[0].with_name(f"latency-1{suffix}.png") for suffix in ("", "-dark"))
    assert light.read_bytes() != dark.read_bytes()


def legends(part: Any) -> Iterator[list[str]]:
    """Which designs they list."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if key == "legend" and "values" in value:
            yield value["values"]
        elif isinstance(value, dict | list):
            yield from legends(value)


def test_a_legend_lists_the_designs_that_are_drawn(ledger: Path) -> None:
    chart = next(each for each in charts(ledger) if each.name == "server-cpu_time_per_request_us")
    rows = chart.panels[0].spec["data"]["values"]
    drawn = sorted({row["design"] for row in rows})
    assert sorted(next(legends(picture(chart, titled=True)))) == drawn
    rows[:] = [row for row in rows if row["design"] != drawn[0]]
    assert sorted(next(legends(picture(chart, titled=True)))) == drawn[1:] != []


def test_a_contender_name_cannot_become_a_path(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", contenders=["../../evil"], connections=[1], blocks=2)
    written = write_pictures(charts(path), tmp_path)
    assert {file.parent for file in written} == {tmp_path}


def test_a_folder_that_cannot_be_made_is_one_line(ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RegattaError, match=r"cannot write pictures to .*taken: .* another folder"):
        write_pictures(charts(ledger), tmp_path / "taken")
