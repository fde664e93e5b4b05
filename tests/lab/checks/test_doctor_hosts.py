"""`regatta doctor STUDY`: the level and remedy of each finding."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from regatta import __version__
from regatta.checks.doctor import hosts
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding
from regatta.checks.doctor.hosts import (
    HostFacts,
    devices,
    of_host,
    of_path,
    read_facts,
    trip,
)
from regatta.errors import PlacementError
from regatta.measure.network.link_end import OFFLOADS, offload
from regatta.measure.perf import Perf
from regatta.measure.places.hosts.peers import EndFound, PathFound
from regatta.measure.places.sides import HostsWish
from regatta.measure.programs import Programs, discover
from tests.lab.near_hosts import NearHost

pytestmark = pytest.mark.usefixtures("programs_folder")
ON = dict.fromkeys(OFFLOADS, True)
END = EndFound("eth0", "virtio_net", 1500, ON)
LOOPBACK = "127.0.0.1"


@pytest.fixture
def facts() -> HostFacts:
    """A host with everything."""
    return HostFacts(
        version=__version__,
        programs=discover(),
        found=Perf("/usr/bin/perf", "perf version 6.1", ("cycles",), None, None),
        groups=True,
        cpu_model="CPU A",
        kernel="6.1.0",
        cpus=(0, 1),
        tw_reuse="1",
    )


def examined(facts: HostFacts, clock: Callable[[], float] = time.time) -> dict[str, Finding]:
    beta = NearHost("ssh://beta", {read_facts: lambda: facts, time.time: clock})
    return {finding.name: finding for finding in of_host(beta)}


def test_a_good_host_is_fine_and_described(facts: HostFacts) -> None:
    found = examined(facts)
    assert {finding.level for finding in found.values()} == {FINE}
    assert all(finding.says.startswith("beta: ") for finding in found.values())
    assert found["perf"].says == "beta: perf version 6.1"
    assert found["kernel and CPU"].says == "beta: CPU A, CPUs 0-1, Linux 6.1.0"
    assert found["programs"].says.endswith("as here")


def programs(**changes: Any) -> Programs:
    return replace(discover(), **changes)


BAD: dict[str, tuple[Callable[[], dict[str, Any]], str, str, str, str]] = {
    "another version of Regatta": (
        lambda: {"version": "0.0.1"},
        *("programs", SERIOUS, "Regatta 0.0.1 with", "Install the same version"),
    ),
    "another version of the server": (
        lambda: {"programs": programs(server_version="regatta-server 0.0.1")},
        *("programs", SERIOUS, "with regatta-server 0.0.1", "run make build"),
    ),
    "no programs": (
        lambda: {"programs": "regatta-server was not found"},
        *("programs", SERIOUS, "was not found", "Run make build there."),
    ),
    "ports that wait": (
        lambda: {"tw_reuse": "2"},
        *("ports", MINOR, "14,000 short connections", "sysctl net.ipv4.tcp_tw_reuse=1"),
    ),
    "no perf": (
        lambda: {"found": Perf(None, None, (), None, "perf is not installed")},
        *("perf", MINOR, "perf is not installed", "Install linux-perf there."),
    ),
    "no control groups": (
        lambda: {"groups": False},
        *("control groups", MINOR, "not permitted", "ssh://root@HOST"),
    ),
    "one CPU": (
        lambda: {"cpus": (3,)},
        *("kernel and CPU", MINOR, "CPU 3, Linux", "Give the host a second CPU"),
    ),
}


@pytest.mark.parametrize("bad", BAD)
def test_what_is_wrong_with_a_host_has_a_level_and_a_remedy(bad: str, facts: HostFacts) -> None:
    changes, name, level, says, advice = BAD[bad]
    found = examined(replace(facts, **changes()))
    assert {finding.name: finding.level for finding in found.values() if finding.level != FINE} == {
        name: level
    }
    assert says in found[name].says
    assert advice in f"{found[name].advice} {found[name].fix}"


@pytest.mark.parametrize(("ahead_s", "level"), [(0, FINE), (-0.2, FINE), (90, MINOR), (-90, MINOR)])
def test_a_far_clock_is_found(ahead_s: float, level: str, facts: HostFacts) -> None:
    found = examined(facts, lambda: time.time() + ahead_s)["clock"]
    assert found.level == level
    assert found.says.startswith(f"beta: {ahead_s * 1000:+.0f} ms from") or not ahead_s
    assert ("chrony" in found.advice) == (level == MINOR)


@pytest.mark.parametrize(
    ("server", "client", "level", "advice"),
    [
        ({}, {}, FINE, ""),
        ({}, {"mtu": 9000}, MINOR, "Give both devices the same MTU."),
        ({}, {"offloads": ON | {"GRO": False}}, MINOR, "Set GRO alike on both (ethtool -K)."),
        (
            {"offloads": ON | {"TSO": False, "GSO": False}},
            {},
            *(MINOR, "Set TSO and GSO alike on both (ethtool -K)."),
        ),
        ({"offloads": ON | {"TSO": None}}, {}, UNKNOWN, ""),
        ({"offloads": ON | {"TSO": False}}, {"offloads": ON | {"TSO": False}}, FINE, ""),
    ],
)
def test_devices_that_differ_are_found(
    server: dict[str, Any], client: dict[str, Any], level: str, advice: str
) -> None:
    found = devices("", (replace(END, **server), replace(END, **client)))
    assert (found.level, found.advice) == (level, advice)


def test_offloads_are_asked_of_the_kernel() -> None:
    assert all(offload("lo", name) is True for name in OFFLOADS)
    assert offload("no-such-device", "TSO") is None


@pytest.mark.parametrize(("p99_us", "level"), [(90.0, FINE), (1200.0, MINOR)])
def test_an_uneven_path_is_found(p99_us: float, level: str) -> None:
    found = trip("", PathFound(50, p99_us))
    assert found.level == level
    assert found.says == f"p50 50 µs, p99 {p99_us:.0f} µs"
    assert ("ethtool -c" in found.advice) == (level == MINOR)


def test_the_path_between_two_hosts_is_measured() -> None:
    alpha, beta = NearHost("ssh://alpha"), NearHost("ssh://beta")
    found = {finding.name: finding for finding in of_path(alpha, beta, LOOPBACK, several=True)}
    assert found.keys() == {"round trip", "devices"}
    assert found["devices"].says.count("lo (lo), MTU ") == 2


def test_a_path_that_is_closed_is_serious() -> None:
    alpha, beta = NearHost("ssh://alpha"), NearHost("ssh://beta")
    (found,) = of_path(alpha, beta, "192.0.2.1", several=False)  # no address of this machine
    assert (found.name, found.level) == ("round trip", SERIOUS)
    assert found.says.startswith("beta cannot reach alpha at 192.0.2.1: ")
    assert "Allow TCP" in found.advice


def test_a_host_that_cannot_be_reached_is_serious(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: object, *_: object) -> None:
        raise PlacementError(f"{name}: Connection refused")

    monkeypatch.setattr(hosts, "Host", refuse)
    found = hosts.examine_hosts(HostsWish("ssh://alpha", ("ssh://beta",)))
    assert [(finding.name, finding.level) for finding in found] == [("reached", SERIOUS)] * 2
    assert found[0].says.startswith("server: ")
    assert found[1].says.startswith("client: ")
    assert "log in without a prompt" in found[0].advice
