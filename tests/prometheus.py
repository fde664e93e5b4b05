"""A real Prometheus server that scrapes what a test wants, and what it then knows."""

import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.servers import PATIENCE_S, needs
from tests.sockets import free_port
from tests.waiting import wait_until

Series = list[dict[str, Any]]


class Prometheus:
    """One that runs: its HTTP interface."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **parameters: str) -> Any:
        """What its interface answers; fails, with its reason, if it is not a success."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=5) as reply:
                answer = json.load(reply)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str, at: float | None = None) -> Series:
        """The series that a query gives, now or at a moment."""
        when = {} if at is None else {"time": f"{at:.3f}"}
        return list(self.ask("query", query=expression, **when)["result"])

    def wait_for(
        self,
        expression: str,
        is_so: Callable[[Series], object] = bool,
        patience_s: float = 3 * PATIENCE_S,
    ) -> Series:
        """Asks until what comes is so; series grow by one sample a second at best."""
        deadline = time.monotonic() + patience_s
        while not is_so(found := self.query(expression)):
            assert time.monotonic() < deadline, f"{expression}: {found}"
            time.sleep(0.1)
        return found


def number(series: Series) -> float:
    """The value of a query that gives one."""
    assert len(series) == 1, series
    return float(series[0]["value"][1])


@contextlib.contextmanager
def running(configuration: Path) -> Iterator[Prometheus]:
    """Starts one with this configuration, its data beside it; waits until it answers."""
    port = free_port()
    log = configuration.parent / "prometheus.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                needs("prometheus"),
                f"--config.file={configuration}",
                f"--storage.tsdb.path={configuration.parent / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=warn",
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    prometheus = Prometheus(f"http://127.0.0.1:{port}")

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{prometheus.url}/-/ready", timeout=1).close()
            return True
        return False

    try:
        wait_until(is_ready, log.read_text)
        yield prometheus
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
