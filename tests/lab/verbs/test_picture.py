"""The picture of a comparison."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.show.pictures import check_picture, versus_spec, write_picture
from tests.lab import reports
from tests.lab.synthetic import make

PAIR = ("iterative", "select")


def test_each_server_has_a_point_with_its_interval_in_each_metric(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", contenders=PAIR, connections=[16], blocks=12)
    spec = versus_spec(reports.analysed(path))
    (load,) = spec["vconcat"]
    assert load["title"].startswith("16 connections")
    titles = [panel["title"]["text"] for panel in load["hconcat"]]
    assert titles[:3] == ["server CPU", "p50", "p99"]
    rows = load["hconcat"][0]["data"]["values"]
    assert {row["design"] for row in rows} == set(PAIR)
    assert all(row["low"] < row["value"] < row["high"] for row in rows)


@pytest.mark.parametrize("kind", [".svg", ".png"])
def test_it_is_written_as_its_name_says(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path / "ledger.sqlite", contenders=PAIR, connections=[16], blocks=8)
    file = tmp_path / f"drawn{kind}"
    write_picture(reports.analysed(path), file)
    if kind == ".png":
        assert file.read_bytes().startswith(b"\x89PNG")
    else:
        words = " ".join(ET.fromstring(file.read_text()).itertext())
        assert "iterative" in words
        assert "server CPU" in words


@pytest.mark.parametrize(
    ("name", "complaint"), [("x.gif", "must end in .svg or .png"), ("no/x.svg", "make it first")]
)
def test_what_cannot_be_written_is_refused_before_the_race(
    tmp_path: Path, name: str, complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        check_picture(tmp_path / name)
