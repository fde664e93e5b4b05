"""The GitHub action and the GitLab template: their own shell steps, in a clone with two revisions.

Only the services themselves are not here: `gh` is a script that keeps what it was given, and
GitLab's API is a server on loopback.
"""

import os
import re
import socket
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import Done, run, run_well
from tests.e2e.racing import ROOT, environment, needs_programs, needs_two_cpus
from tests.e2e.scripted_servers import http, read_head, serving
from tests.e2e.toy_servers import SOURCE

pytestmark = [needs_programs, needs_two_cpus]
CI = ROOT / "deploy" / "ci"
SERVER = "./toy {port}"
BUILD = "cc -O2 -o toy server.c"
OPTIONS = "--budget 1s --warmup-limit 0 --connections 8 --fail-over"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clean clone of a repository in which the second revision takes twice as much."""
    origin = tmp_path / "origin"
    run_well("git", "init", "--quiet", origin)
    source = SOURCE.read_text()
    for name, text in (("base", source), ("head", source.replace("EXTRA 0", "EXTRA 100"))):
        (origin / "server.c").write_text(text)
        run_well("git", "-C", origin, "add", ".")
        author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        run_well("git", "-C", origin, *author, "commit", "--quiet", "-m", name)
        run_well("git", "-C", origin, "tag", name)
    run_well("git", "clone", "--quiet", origin, tmp_path / "clone")
    return tmp_path / "clone"


def run_action(clone: Path, inputs: dict[str, str]) -> Done:
    """Every step of the composite action, until one fails."""
    action = yaml.safe_load((CI / "action.yml").read_text())
    known = {
        "github.action_path": str(CI),
        "github.event.pull_request.number": "7",
        "runner.temp": str(clone.parent),
        "github.token": "secret",
    }

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)

    for name, declared in action["inputs"].items():
        value = inputs[name] if name in inputs else filled(str(declared["default"]))
        known[f"inputs.{name}"] = value
    log = ""
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"], "an expression in a script is an injection"
        settings = {name: filled(str(value)) for name, value in step["env"].items()}
        path = f"{clone.parent}:{os.environ['PATH']}"
        env = {**environment(), "PATH": path, "SAID": str(clone.parent / "said"), **settings}
        done = run("bash", "-eo", "pipefail", "-c", step["run"], cwd=clone, env=env, timeout=300)
        log += done.stdout + done.stderr
        if done.returncode:
            break
    return Done(done.args, done.returncode, log, done.stderr)


@pytest.mark.long
def test_the_github_action_comments_and_fails_on_a_regression(clone: Path) -> None:
    (clone.parent / "gh").write_text('#!/bin/sh\necho "$1 $2 $3" > "$SAID"\ncat "$5" >> "$SAID"\n')
    (clone.parent / "gh").chmod(0o755)
    inputs = {"server": SERVER, "build": BUILD, "base": "base", "head": "head"}
    inputs |= {"options": f"{OPTIONS} 5%", "regatta": str(ROOT / "bin" / "regatta")}
    done = run_action(clone, inputs)
    assert done.returncode == 1, done.stdout
    said = (clone.parent / "said").read_text().splitlines()
    assert said[0] == "pr comment 7"
    assert said[1].startswith("**Regression: head takes ")
    assert [line.split(" | ")[0] for line in said if line.startswith("| ")][2:] == [
        "| base",
        "| base-again",
        "| head",
    ]
    assert run_well("git", "-C", clone, "worktree", "list").count("\n") == 1
    assert not (clone / ".regatta").exists()


@pytest.mark.long
def test_the_gitlab_template_comments_and_finds_no_regression_of_equals(clone: Path) -> None:
    got: list[tuple[str, dict[str, Any]]] = []

    def api(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            head, length = read_head(file)
            form = urllib.parse.parse_qs(file.read(length).decode())
            got.append((head.split()[1].decode(), form))
            connection.sendall(http(b"", b"201 Created"))

    job = yaml.safe_load((CI / "gitlab.yml").read_text())["regatta"]
    given = {
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "base",
        "CI_COMMIT_SHA": "base",
        "CI_PROJECT_ID": "3",
        "CI_MERGE_REQUEST_IID": "9",
        "REGATTA_ROOT": str(ROOT),
        "REGATTA_TOKEN": "secret",
        "REGATTA_SERVER": SERVER,
        "REGATTA_BUILD": BUILD,
        "REGATTA_OPTIONS": f"{OPTIONS} 200%",
    }
    script = "\n".join(job["script"])
    with serving(api) as server:
        given["CI_API_V4_URL"] = f"http://{server.address}"
        env = {**environment(), **job["variables"], **given}
        done = run("bash", "-eo", "pipefail", "-c", script, cwd=clone, env=env, timeout=300)
    # A second of races may be too few to judge the latencies.
    says = {0: "**No regression: head takes ", 3: "**Undecided: "}
    assert done.returncode in says, done.stderr
    ((path, form),) = got
    assert path == "/projects/3/merge_requests/9/notes"
    assert form["body"][0].startswith(says[done.returncode])
    assert (clone / job["artifacts"]["paths"][0]).read_text() == form["body"][0]
