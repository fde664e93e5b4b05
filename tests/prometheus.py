"""A real Prometheus server, and queries to it."""

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
    """The HTTP interface of a running Prometheus."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, **parameters: str) -> Any:
        """The data of a reply. Fails with Prometheus' reason if the request fails."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=5) as reply:
                answer = json.load(reply)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str, at: float | None = None) -> Series:
        """Result of a query, now or at a Unix time."""
        when = {} if at is None else {"time": f"{at:.3f}"}
        return list(self.ask("query", query=expression, **when)["result"])

    def wait_for(
        self,
        expression: str,
        is_so: Callable[[Series], object] = bool,
        patience_s: float = 3 * PATIENCE_S,
    ) -> Series:
        """Repeats a query until its result satisfies `is_so`."""
        deadline = time.monotonic() + patience_s
        while not is_so(found := self.query(expression)):
            assert time.monotonic() < deadline, f"{expression}: {found}"
            time.sleep(0.1)
        return found


def number(series: Series) -> float:
    """The value of a query with one result."""
    assert len(series) == 1, series
    return float(series[0]["value"][1])


@contextlib.contextmanager
def running(configuration: Path) -> Iterator[Prometheus]:
    """Starts Prometheus with its data next to the configuration; waits until it is ready."""
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
