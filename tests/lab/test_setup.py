"""The front door: what a person meets before the first race."""

import importlib.util
import os
import re
import resource
import shutil
import tomllib
from functools import partial
from pathlib import Path

import pytest

from tests import commands

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("regatta", "regatta-server", "regatta-client")


run = partial(commands.run, timeout=300)


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    rules = re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE)
    assert sorted(rules) == sorted(phony[1].split())
    answer = run("make", "--no-print-directory", "-C", ROOT, env=environment_without_make())
    assert answer.returncode == 0
    assert re.findall(r"^  make ([a-z-]+) +\S", answer.stdout, re.MULTILINE) == rules


def environment_without_make() -> dict[str, str]:
    """A make that runs this test must not pass its options on to the one that is tested."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


def test_one_version_everywhere() -> None:
    meson = re.search(r"^  version: '(.*)',$", (ROOT / "meson.build").read_text(), re.MULTILINE)
    assert meson[1] == version()


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_run_from_any_folder(program: str, tmp_path: Path) -> None:
    answer = run(ROOT / "bin" / program, "--version", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert version() in answer.stdout


def test_a_link_to_regatta_runs_too(tmp_path: Path) -> None:
    link = tmp_path / "regatta"
    link.symlink_to(ROOT / "bin" / "regatta")
    assert run(link, "--version", cwd=tmp_path).returncode == 0


def test_setup_with_nothing_to_do_is_quick_and_silent() -> None:
    run(ROOT / "scripts" / "setup", "race", "test")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = run(ROOT / "scripts" / "setup", "race", "test")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
    assert answer.returncode == 0, answer.stderr
    assert "installing" not in answer.stdout


def test_what_is_installed_and_built_is_compiled() -> None:
    """Where Python may keep nothing, each start would compile hundreds of files again."""
    for module in ("numpy", "altair", "regatta", "regatta.verbs.session"):
        found = importlib.util.find_spec(module)
        assert found is not None
        assert Path(str(found.cached)).exists(), f"{module} is compiled at each start"


def folder_of_stubs(folder: Path, real: str, stubs: dict[str, str]) -> Path:
    """A folder to use as PATH: links to some programs of the system, and scripts for others."""
    folder.mkdir()
    for name in real.split():
        found = shutil.which(name)
        assert found is not None, f"{name} is not on PATH"
        (folder / name).symlink_to(found)
    for name, script in stubs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def test_without_root_setup_names_the_one_command_and_installs_nothing(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", clone / "scripts" / "setup")
    ran = tmp_path / "apt-get-ran"
    path = folder_of_stubs(
        tmp_path / "path",
        real="bash env cat dirname readlink mkdir uname",
        stubs={"id": "echo 1000", "sudo": "exit 1", "apt-get": f"touch {ran}"},
    )
    answer = run(clone / "scripts" / "setup", "race", env={"PATH": str(path)})
    assert answer.returncode == 1
    commands = [line for line in answer.stderr.splitlines() if "apt-get" in line]
    assert len(commands) == 1
    words = commands[0].split()
    assert words[:4] == ["sudo", "apt-get", "install", "-y"]
    assert {"gcc", "meson", "ninja-build", "pkg-config"} <= set(words)
    assert len(words) == len(set(words)), "a package is named twice"
    assert not ran.exists()
    assert not (clone / ".venv").exists()


def test_setup_says_what_is_wrong_when_apt_fails(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup", clone / "scripts" / "setup")
    path = folder_of_stubs(
        tmp_path / "path",
        real="bash env cat dirname readlink mkdir uname tail cut sleep",
        stubs={"id": "echo 0", "apt-get": "echo E: the mirror is gone >&2; exit 100"},
    )
    answer = run(clone / "scripts" / "setup", "race", env={"PATH": str(path)})
    assert answer.returncode == 1
    assert "installing system packages: gcc" in answer.stdout
    assert "E: the mirror is gone" in answer.stderr


@pytest.mark.long
def test_install_leaves_programs_that_run_without_the_clone(tmp_path: Path) -> None:
    """Also the wheel's test: install puts the wheel into a fresh environment."""
    prefix = tmp_path / "prefix"
    installed = run(
        "make", "-C", ROOT, "install", f"PREFIX={prefix}", env=environment_without_make()
    )
    assert installed.returncode == 0, installed.stdout + installed.stderr
    for program in PROGRAMS:
        answer = run(prefix / "bin" / program, "--version", cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert version() in answer.stdout
    question = (
        "import regatta.measure.programs as p, regatta.record.study.find as s; "
        "print(p.__file__, s.shipped_names()); "
        "from regatta.measure.race.place_sides import check_programs as c; "
        "from regatta.record.study import load_study as l; "
        "c(l(s.find_study('knee'), p.discover().designs))"
    )
    answer = run(prefix / "lib" / "regatta" / "bin" / "python", "-c", question, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert str(prefix) in answer.stdout
    assert "quick" in answer.stdout
