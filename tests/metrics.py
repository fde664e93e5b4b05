"""/metrics parsed by Prometheus' own Python library."""

from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from tests.http_replies import Reply, only_reply
from tests.servers import RunningServer

OPENMETRICS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
"""The Accept header of Prometheus."""

Labels = frozenset[tuple[str, str]]


def labels(**values: str) -> Labels:
    return frozenset(values.items())


def fetch(server: RunningServer, accept: str | None = None) -> Reply:
    """The reply to one request for /metrics."""
    header = f"Accept: {accept}\r\n" if accept is not None else ""
    request = f"GET /metrics HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"
    return only_reply(server.ask(request.encode()))


def samples(server: RunningServer, accept: str | None = None) -> dict[str, dict[Labels, float]]:
    """All sample values, by name and labels."""
    return samples_of(fetch(server, accept))


def samples_of(reply: Reply) -> dict[str, dict[Labels, float]]:
    """Fails on anything that violates the format."""
    is_openmetrics = reply.headers["content-type"].startswith("application/openmetrics-text")
    parser = openmetrics_parser if is_openmetrics else text_parser
    families = list(parser.text_string_to_metric_families(reply.body.decode("utf-8")))
    assert len({family.name for family in families}) == len(families)
    found: dict[str, dict[Labels, float]] = {}
    for family in families:
        for sample in family.samples:
            of_name = found.setdefault(sample.name, {})
            key = frozenset(sample.labels.items())
            assert key not in of_name, f"{sample.name} comes twice with {sample.labels}"
            of_name[key] = sample.value
    return found


def value(server: RunningServer, name: str, **wanted: str) -> float:
    return samples(server)[name][labels(**wanted)]
