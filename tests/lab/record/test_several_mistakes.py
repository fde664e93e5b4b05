"""All mistakes of a study are reported in one run."""

import pytest

from regatta.errors import StudyError
from regatta.record.study import parse_study
from regatta.record.study.find import Design

DESIGNS = [Design("epoll", "a loop"), Design("select", "a loop")]
STUDY = """
name = "x y"
[race]
blokcs = 3
blocks = "many"
[contenders.mine]
command = ["mine", "{port}"]
[[cells]]
designs = ["epol", "selct"]
connections = 0
[[cells]]
desings = "all"
"""
FIRST = "`name` is 'x y'"
OTHERS = (
    "unknown key `race.blokcs`",
    "did you mean blocks?",
    "`race.blocks` is 'many'",
    "`cells[1].designs` contains 'epol'",
    "did you mean epoll?",
    "`cells[1].designs` contains 'selct'",
    "`cells[1].connections` contains 0",
    "unknown key `cells[2].desings`",
    "did you mean designs?",
)


def mistakes(text: str) -> tuple[str, ...]:
    with pytest.raises(StudyError) as found:
        parse_study(text, DESIGNS)
    return found.value.mistakes


def test_every_table_is_checked_and_each_mistake_named_once() -> None:
    found = mistakes(STUDY)
    assert len(found) == 7
    assert found[0].startswith(FIRST)
    for words in OTHERS:
        assert sum(words in one for one in found) == 1, words
    message = str(StudyError(*found))
    assert message.startswith(f"7 mistakes: (1) {found[0]}; (2) ")
    assert "\n" not in message


def test_a_misspelt_key_that_is_required_is_not_also_missing() -> None:
    (one,) = mistakes(
        STUDY.replace("command", "comand").split("[race]")[0].replace("x y", "x")
        + '[contenders.mine]\ncomand = ["mine", "{port}"]'
    )
    assert "did you mean command?" in one


def test_without_valid_contenders_the_cells_are_not_blamed() -> None:
    found = mistakes(STUDY.replace("command", "comand"))
    assert any("contenders.mine.comand" in one for one in found)
    assert not any("cells" in one for one in found)


def test_claims_are_all_checked() -> None:
    cells = 'name = "x"\n[[cells]]\ndesigns = "all"\nconnections = 4\n'
    claim = '[[claim]]\nid = "{}"\nsays = "x"\nmetric = "{}"\norder = ["epoll", "select"]\n'
    found = mistakes(cells + claim.format("a", "task_clok") + claim.format("b", "elapst"))
    assert ["claim a.metric" in one or "claim b.metric" in one for one in found] == [True, True]


def test_a_long_list_is_cut() -> None:
    assert str(StudyError(*"abcdefghijkl")).endswith("(10) j; and 2 more")
    assert str(StudyError("a")) == "a"
