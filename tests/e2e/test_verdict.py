"""`regatta versus --base --head`, for CI: its exit status, and the comment that it prints.

The machine may be busy, so what must be decided is far beyond the threshold.
"""

import json
import re
import shlex
from pathlib import Path

import pytest

from regatta.verbs.main import main
from tests.commands import Done, run
from tests.e2e.racing import environment, needs_programs, needs_two_cpus, regatta
from tests.e2e.toy_servers import build_toy, user_server, versions

pytestmark = [needs_programs, needs_two_cpus]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_toy(tmp_path_factory.mktemp("toy"))


def judge(folder: Path, *options: str) -> Done:
    fast = ("--budget", "1s", "--warmup-limit", "0", "--connections", "8")
    words = ("versus", *fast, "--quiet", "--out", "race", *options)
    return run(*regatta(*words), cwd=folder, env=environment(), timeout=300)


def test_a_head_that_takes_twice_as_much_is_a_regression(toy: Path, tmp_path: Path) -> None:
    done = judge(tmp_path, *versions(toy, 100), "--markdown")
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert re.match(r"\*\*Regression: head (takes|holds) [012]\.\d+ times", lines[0])
    assert any(re.match(r"- cpu: regression: head takes [12]\.\d+ times", line) for line in lines)
    assert f"--head '{toy} {{port}} 100'" in lines[-1]


@pytest.mark.long
def test_a_budget_that_is_too_small_leaves_it_undecided(toy: Path, tmp_path: Path) -> None:
    done = judge(tmp_path, *versions(toy, 0), "--fail-over", "0.1%")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "\nUndecided: head " in done.stdout
    assert "\nto decide: " in done.stdout


def test_a_head_that_answers_otherwise_is_not_comparable(tmp_path: Path) -> None:
    done = judge(tmp_path, "--base", user_server("well"), "--head", user_server("broken"))
    assert done.returncode == 2
    assert "not comparable: head answers 33 bytes of text/plain" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_head_that_blocks_is_a_regression_in_what_it_holds_and_in_latency(
    tmp_path: Path,
) -> None:
    """CPU alone does not show it: a wait of 4 ms costs none."""
    base, head = user_server("well"), user_server("blocks", 4)
    over = "cpu=1000%"
    done = judge(tmp_path, "--base", base, "--head", head, "--fail-over", over, "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)["verdict"]
    assert found["outcomes"]["holds"] == found["outcomes"]["p50"] == "regression", found
    ratios = {load["judged"]: load["head_over_base"] for load in found["loads"]}
    assert ratios["holds"]["value"] < 0.5
    assert ratios["p50"]["value"] > 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--base 'sh {port}'", "--base and --head belong together"),
        ("--base 'sh {port}' --head 'sh {port}' epoll", "'epoll' cannot race beside"),
        ("--base 'sh {port}' --head select", "--head is a design"),
        ("--base 'sh {port}' --head sh", "needs {port}"),
        ("--base 'sh {port}' --head 'sh {port}' --fail-over x", "--fail-over is x"),
        ("--base 'sh {port}' --head 'sh {port}' --fail-over nan", "is nan"),
    ],
)
def test_what_cannot_be_judged_has_status_2(
    options: str,
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["regatta", "versus", *shlex.split(options)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err.splitlines()[-1]


def test_servers_that_do_not_start_have_status_2_and_leave_nothing(tmp_path: Path) -> None:
    done = judge(tmp_path, "--base", "false {port}", "--head", "false {port}")
    assert done.returncode == 2
    assert "head: the server exited before" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []
