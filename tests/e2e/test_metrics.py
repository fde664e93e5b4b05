"""/metrics scraped by a real Prometheus; dashboard and rules."""

import contextlib
import itertools
import json
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run
from tests.metrics import OPENMETRICS, Labels, fetch, labels, samples
from tests.servers import PATIENCE_S, REPOSITORY, needs, running
from tests.sockets import free_port
from tests.tokens import token_file
from tests.waiting import wait_until

DEPLOY = REPOSITORY / "deploy"
GROUPS = 50
"""Maximum number of names with their own series."""


# Starts a child for each name, 40 at a time, that uses so much CPU time and then lives for half a
# second.
CHURN = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
for count, (name, seconds) in enumerate(eval(sys.argv[1])):
    if os.fork() == 0:
        libc.prctl(15, name, 0, 0, 0)
        while time.process_time() < seconds:
            pass
        time.sleep(0.5)
        os._exit(0)
    if count >= 40:
        os.wait()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def promtool(*arguments: str, text: str = "") -> str:
    """Output of promtool, which must find nothing wrong."""
    done = run(needs("promtool"), *arguments, stdin=text)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_counters_never_fall_and_series_stay_few_under_churn(tmp_path: Path) -> None:
    with running(tmp_path, "--max-age", "0") as server:
        before: dict[tuple[str, Labels], float] = {}
        most = 0
        names = [(b"churn-%d" % i, 0.08 if i < 12 else 0.003) for i in range(300)]
        forking = subprocess.Popen([sys.executable, "-c", CHURN, repr(names)])
        for accept in itertools.cycle([None, OPENMETRICS]):
            found = samples(server, accept)
            now = {
                (name, key): value
                for name, of_name in found.items()
                for key, value in of_name.items()
                if name.endswith(("_total", "_bucket", "_count", "_sum"))
            }
            fallen = {key: (before[key], now[key]) for key in before if now[key] < before[key]}
            assert not fallen
            before = now
            of_groups = found["regatta_group_cpu_seconds_total"]
            assert len(of_groups) == 2 * len(found["regatta_group_processes"])
            most = max(most, len(found["regatta_group_processes"]))
            assert most <= GROUPS + 1
            for mode in ("user", "system"):
                # The series without a group is that of all other processes.
                assert labels(mode=mode) in of_groups
            if forking.poll() is not None:
                break
        assert forking.returncode == 0
        assert most >= 10, "no name got its own series"
        # The more names have a series, the more CPU time the next one needs: most have none.
        assert most < GROUPS


@pytest.mark.parametrize("design", ["epoll", "prefork-accept"])
def test_promtool_accepts_the_metrics(tmp_path: Path, design: str) -> None:
    with running(tmp_path, "--design", design) as server:
        for _ in range(2):
            reply = fetch(server)
            assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert promtool("check", "metrics", text=reply.body.decode()) == ""


SCRAPED = "count_over_time(regatta_tasks[1m]) > 4"


class Prometheus:
    """A real Prometheus, with its data next to the configuration, and queries to it."""

    def __init__(self, configuration: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = configuration.parent / "prometheus.log"
        command = [needs("prometheus"), "--log.level=warn", f"--config.file={configuration}"]
        command += [f"--storage.tsdb.path={configuration.parent / 'data'}"]
        command += [f"--web.listen-address=127.0.0.1:{port}"]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{self.url}/-/ready", timeout=1).close()
            return True
        return False

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of a reply."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=5) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        return list(self.ask("query", query=expression)["result"])


def configure(folder: Path, address: str) -> Path:
    """The shipped configuration, adapted to this server and with a scrape every second."""
    shutil.copytree(DEPLOY / "prometheus", folder, dirs_exist_ok=True)
    token_file(folder).rename(folder / "regatta.token")
    file = folder / "prometheus.yml"
    text = file.read_text()
    for shipped, ours in (
        ("localhost:7342", address),
        ("scrape_interval: 15s", "scrape_interval: 1s"),
    ):
        assert shipped in text
        text = text.replace(shipped, ours)
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped a server a few times. Each scrape causes a scan."""
    folder = tmp_path_factory.mktemp("prometheus")
    port = free_port()
    file = configure(folder, f"127.0.0.1:{port}")
    options = ("--max-age", "0", "--token-file", str(folder / "regatta.token"))
    with running(folder, "--source", "auto", *options, listen=f"127.0.0.1:{port}"):
        started = Prometheus(file)
        try:
            wait_until(started.is_ready, started.log.read_text)
            wait_until(lambda: started.query(SCRAPED), "no scrapes")
            yield started
        finally:
            started.process.terminate()
            started.process.wait(PATIENCE_S)


def test_every_panel_of_the_dashboard_has_data(scraped: Prometheus) -> None:
    values = {"$job": "regatta", "$instance": ".+", "$__rate_interval": "10s"}
    loaded = json.loads((DEPLOY / "grafana" / "regatta.json").read_text())
    targets = [target for panel in loaded["panels"] for target in panel["targets"]]
    assert targets
    for target in targets:
        expression = target["expr"]
        for name, value in values.items():
            expression = expression.replace(name, value)
        assert "$" not in expression, "it has a variable that the dashboard does not set"
        found = scraped.query(expression)
        assert found, expression
        assert all(float(series["value"][1]) >= 0 for series in found), expression


def test_every_rule_can_be_evaluated(scraped: Prometheus) -> None:
    for group in scraped.ask("rules")["groups"]:
        for rule in group["rules"]:
            scraped.query(rule["query"])
            assert rule.get("lastError", "") == ""
    assert promtool("check", "rules", str(DEPLOY / "prometheus" / "regatta.rules.yml"))
