"""`contenders_from`, `contenders = "all"`, and contenders that cannot run on this machine."""

from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.record.study import Study, parse_study
from regatta.record.study.find import Design

DESIGNS = (Design("epoll", ""),)
GROUP = '[[cells]]\ncontenders = "all"\ndialect = "http"\nwork = "snapshot"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, more in (("one", ""), ("two", 'serves = ["/a"]'), ("three", "")):
        (tmp_path / "from" / name).mkdir(parents=True)
        program = tmp_path / "from" / name / "server"
        (tmp_path / "from" / name / "contender.toml").write_text(
            'command = ["{folder}/server", "{port}"]\nneeds = "{folder}/server"\n' + more
        )
        program.touch()
    return tmp_path


def read(folder: Path, cells: str) -> Study:
    return parse_study(f'name = "a"\ncontenders_from = "from"\n{cells}', DESIGNS, folder)


def raced(study: Study) -> list[str]:
    return [cell.contender for cell in study.cells]


def test_each_folder_is_a_contender_with_its_own_files(folder: Path) -> None:
    study = read(folder, GROUP)
    assert raced(study) == ["one", "three", "two"]
    words = study.contenders["two"].words("h", 1, (), study.folder)
    assert words == [str(folder / "from/two/server"), "1"]


def test_all_are_those_that_serve_the_path(folder: Path) -> None:
    assert raced(read(folder, f'{GROUP}path = "/a"')) == ["one", "three", "two"]
    assert raced(read(folder, f'{GROUP}path = "/b"')) == ["one", "three"]


def test_the_studys_own_contenders_belong_to_all(folder: Path) -> None:
    mine = '[contenders.mine]\ncommand = "x {port}"\n'
    assert raced(read(folder, mine + GROUP)) == ["one", "three", "two", "mine"]


def test_one_that_is_not_built_is_left_out_with_the_command_that_builds_it(folder: Path) -> None:
    (folder / "from/two/server").unlink()
    (folder / "from/build").touch()
    study = read(folder, GROUP)
    assert raced(study) == ["one", "three"]
    missing = f"{folder}/from/two/server is missing; run {folder}/from/build two"
    assert study.left_out == {"two": missing}


def test_a_program_is_looked_for_on_the_path(folder: Path) -> None:
    contender = (
        '[contenders.%s]\ncommand = "x {port}"\nneeds = "%s"\ninstall = "apt-get install it"\n'
    )
    study = read(
        folder, contender % ("here", "sh") + contender % ("gone", "no-such-program") + GROUP
    )
    assert "here" in raced(study)
    assert study.left_out == {"gone": "no-such-program is missing; run apt-get install it"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "`contenders_from`: no folder in .*/from has a contender.toml"),
        ("command = 1", "from/bad/contender.toml: `command` is 1; it must be a command such as"),
        ("x = [", "from/bad/contender.toml: it is not valid TOML"),
        ('command = "x {port}"\nprot = 1', "from/bad/contender.toml: unknown key `prot`"),
    ],
)
def test_mistakes_name_the_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "from" / "bad").mkdir(parents=True)
    if text:
        (tmp_path / "from" / "bad" / "contender.toml").write_text(text)
    with pytest.raises(StudyError, match=words):
        read(tmp_path, GROUP)


@pytest.mark.parametrize("name", ["epoll", "a name"])
def test_a_folders_name_must_be_free_and_valid(tmp_path: Path, name: str) -> None:
    (tmp_path / "from" / name).mkdir(parents=True)
    (tmp_path / "from" / name / "contender.toml").write_text('command = "x {port}"')
    with pytest.raises(StudyError, match=f"contenders.*{name}"):
        read(tmp_path, GROUP)
