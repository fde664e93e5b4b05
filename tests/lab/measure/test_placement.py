"""The two sides get networks and CPUs of their own, as root and without, and leave nothing."""

import json
import os
import subprocess
import sys

import pytest

from regatta.errors import CpuError, PlacementError
from regatta.measure.places import placement
from regatta.measure.places.placement import (
    choose_cpus,
    first_cpus,
    halves,
    make_placement,
)
from regatta.measure.places.side import SidePlacement
from regatta.measure.processes import guard_environment
from regatta.record.study.limits import UNSTEERED
from tests.commands import run, run_well
from tests.lab import rootless
from tests.lab.needs import NEEDS_ROOT, NEEDS_TWO_CPUS
from tests.processes import is_gone, network_namespaces, pids_inside
from tests.waiting import wait_until

PORTS = [f"/proc/sys/net/ipv4/{name}" for name in ("ip_local_port_range", "tcp_tw_reuse")]
MANY_PORTS = "1024\t65535\n1"


def alone(cpu: int) -> set[int]:
    return {cpu}


def run_in(side: SidePlacement, *command: str) -> str:
    return run_well(*side.command(command), env=guard_environment()).strip()


@pytest.mark.parametrize(
    ("server", "client", "allowed", "chosen"),
    [
        (None, None, [0, 1], ((0,), (1,))),
        (None, None, [0, 1, 2, 3], ((0,), (1, 2, 3))),
        ([0], [0], [0], ((0,), (0,))),
        ([1], None, [0, 1, 2], ((1,), (0, 2))),
        (None, [0], [0, 1, 2], ((1,), (0,))),
    ],
)
def test_a_side_has_the_cpus_that_are_named_or_left(
    server: list[int] | None, client: list[int] | None, allowed: list[int], chosen: object
) -> None:
    assert choose_cpus(server, client, allowed, alone) == chosen


def test_each_side_has_half_of_more_than_four_cpus_and_siblings_are_not_divided() -> None:
    def threads(cpu: int) -> set[int]:
        return {cpu % 4, cpu % 4 + 4}

    assert halves([0, 1, 2, 3], alone) == (None, None)
    assert halves(range(5), alone) == ((0, 1), (2, 3, 4))
    assert halves(range(8), threads) == ((0, 1, 4, 5), (2, 3, 6, 7))
    assert halves([0, 1, 2, 3, 4], threads) == ((0, 1, 4), (2, 3))
    assert halves(range(8), lambda _: {*range(8)}) == (None, None)
    assert first_cpus([4, 0, 5, 1], 1, threads) == (0,)
    assert first_cpus([4, 0, 5, 1], 3, threads) == (0, 1, 4)


def test_the_sibling_of_the_servers_core_is_idle_unless_nothing_else_is_left() -> None:
    pairs = {0: {0, 4}, 4: {0, 4}, 1: {1, 5}, 5: {1, 5}}
    assert choose_cpus(None, None, [0, 1, 4, 5], pairs.__getitem__) == ((0,), (1, 5))
    assert choose_cpus(None, None, [0, 4], pairs.__getitem__) == ((0,), (4,))


@pytest.mark.parametrize(
    ("server", "client", "allowed", "why"),
    [
        (None, None, [3], "only one CPU.*--server-cpus 3 --client-cpus 3"),
        ([0], [9], [0, 1], "--client-cpus names CPU 9.*allowed: 0-1"),
        ([0, 1], None, [0, 1], "no CPU is left"),
    ],
)
def test_cpus_that_do_not_do_are_refused(
    server: list[int] | None, client: list[int] | None, allowed: list[int], why: str
) -> None:
    with pytest.raises(CpuError, match=why):
        choose_cpus(server, client, allowed, alone)


@NEEDS_TWO_CPUS
def test_on_loopback_each_side_runs_on_its_cpus_only() -> None:
    with make_placement("loopback", [0], [1]) as place:
        code = "import os; print(os.sched_getaffinity(0))"
        assert run_in(place.server, sys.executable, "-c", code) == "{0}"
        assert run_in(place.client, sys.executable, "-c", code) == "{1}"


@NEEDS_ROOT
@NEEDS_TWO_CPUS
def test_as_root_the_sides_have_networks_of_their_own_that_vanish_at_the_end() -> None:
    ours = network_namespaces([os.getpid()])
    with make_placement("netns", [0], [1]) as place:
        assert not place.rootless
        server = run_in(place.server, "readlink", "/proc/self/ns/net")
        client = run_in(place.client, "readlink", "/proc/self/ns/net")
        assert len({server, client} | ours) == 3
        assert "198.18.0.1/30" in run_in(place.server, "ip", "-br", "address")
        assert "198.18.0.2/30" in run_in(place.client, "ip", "-br", "address")
        assert run_in(place.client, "cat", *PORTS) == MANY_PORTS
        members = pids_inside({server, client})
        assert network_namespaces(members) == {server, client}
    wait_until(
        lambda: not {server, client} & network_namespaces(members),
        "a network has outlived its race",
    )


ROOTLESS_PLACEMENT = """
import json, os, subprocess
from regatta.measure.processes import guard_environment
from regatta.measure.places.placement import make_placement
cpus = sorted(os.sched_getaffinity(0))
def run(side, *command):
    return subprocess.run(side.command(command), env=guard_environment(), check=True,
                          capture_output=True, text=True, timeout=20).stdout.strip()
with make_placement("netns", [cpus[0]], [cpus[-1]]) as place:
    print(json.dumps({
        "uid": os.geteuid(),
        "place": place.describe(),
        "server": run(place.server, "ip", "-br", "address"),
        "client": run(place.client, "ip", "-br", "address"),
        "ports": run(place.client, "cat", *os.environ["PORTS"].split()),
    }))
"""


def test_without_rights_the_sides_have_networks_in_a_user_namespace_and_are_not_steered() -> None:
    rootless.need_python()
    rootless.need_user_namespaces()
    done = rootless.run_python(ROOTLESS_PLACEMENT, PORTS=" ".join(PORTS))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["uid"] != 0
    assert found["place"]["rootless"]
    assert "198.18.0.1/30" in found["server"]
    assert "198.18.0.2/30" in found["client"]
    assert found["ports"] == MANY_PORTS
    assert found["place"]["steering"] == UNSTEERED
    assert "to steer them" in found["place"]["steering_note"]
    for end in found["place"]["ends"].values():
        assert end is None or end["rps_cpus"] in ([], [[]])


def test_where_namespaces_are_forbidden_only_auto_falls_back_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> placement.Placement:
        raise PlacementError("unshare failed: Operation not permitted")

    monkeypatch.setattr(placement, "place_in_namespaces", refuse)
    with make_placement("auto", [0], [0]) as place:
        assert place.kind == "loopback"
        assert "Operation not permitted" in (place.note or "")
    with pytest.raises(PlacementError, match="not permitted here.*--placement loopback"):
        make_placement("netns", [0], [0])


def test_a_holder_that_cannot_start_gives_its_reason() -> None:
    with pytest.raises(PlacementError, match="nonsense"):
        placement.start_holder(["unshare", "--nonsense", "--"])


HOLD = """
import subprocess, sys
from regatta.measure.processes import guard_environment
from regatta.measure.places.placement import make_placement
place = make_placement(sys.argv[1], [0], [0])
child = subprocess.Popen(place.server.command(["sleep", "600"]), env=guard_environment(),
                         start_new_session=True)
print(child.pid, *(holder.pid for holder in place.holders), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["loopback", "netns"])
def test_when_the_lab_is_killed_nothing_of_it_survives(kind: str) -> None:
    if kind == "netns" and os.geteuid() != 0:
        rootless.need_user_namespaces()
    lab = subprocess.Popen(
        [sys.executable, "-c", HOLD, kind],
        cwd=rootless.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    pids = [int(pid) for pid in lab.stdout.readline().split()]
    assert len(pids) == (3 if kind == "netns" else 1)
    its_own = network_namespaces(pids) - network_namespaces([os.getpid()])
    assert len(its_own) == (2 if kind == "netns" else 0)
    members = pids_inside(its_own)
    lab.kill()
    lab.wait()
    wait_until(lambda: all(is_gone(pid) for pid in pids), "a process has survived")
    wait_until(lambda: not its_own & network_namespaces(members), "a network has survived")


def test_a_guarded_command_whose_parent_is_gone_does_not_start() -> None:
    with make_placement("loopback", [0], [0]) as place:
        command = place.server.command(["echo", "alive"])
    environment = {**guard_environment(), "REGATTA_GUARD": str(2**22 + 1)}
    done = run(*command, env=environment)
    assert (done.returncode, done.stdout) == (125, "")
