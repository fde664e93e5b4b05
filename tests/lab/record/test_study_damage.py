"""A study of ours with some characters changed: it is read, or refused in one line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.errors import StudyError
from regatta.record.study import parse_study
from tests.lab.designs import every_design

STUDIES = sorted((Path(__file__).parents[3] / "studies").glob("*.toml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
@settings(max_examples=25)
@given(data=st.data())
def test_a_damaged_study_is_read_or_refused(path: Path, data: st.DataObject) -> None:
    text, designs = path.read_text(), every_design()
    for at in data.draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=3)):
        changed = data.draw(st.sampled_from(["", "0", "-", '"', "]", "[", "\n", "=", "é", "\0"]))
        text = text[:at] + changed + text[at + 1 :]
    try:
        study = parse_study(text, designs, path.parent)
    except StudyError as error:
        told = str(error)
        assert "\n" not in told
    else:
        assert study.name
