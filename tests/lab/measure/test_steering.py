"""What arrives is processed by the side that it is for where that is permitted; else it is said."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regatta.measure.network import link_end, steering
from regatta.measure.network.link_end import cpus_of, mask_of
from regatta.measure.places.placement import make_placement
from regatta.measure.places.sides import Placement
from regatta.measure.processes import guard_environment
from regatta.record.study.limits import OWN_SIDE, UNSTEERED
from tests.lab.needs import CPUS, NEEDS_ROOT, NEEDS_TWO_CPUS

BATCHES, BATCH = 20, 100

RECEIVE = f"""
import socket, sys
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("", 9000))
here.settimeout(20)
print("ready", flush=True)
for _ in range({BATCHES}):
    for _ in range({BATCH}):
        _, sender = here.recvfrom(100)
    here.sendto(b"all", sender)
"""
SEND = f"""
import socket, sys
there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
there.connect((sys.argv[1], 9000))
there.settimeout(20)
for _ in range({BATCHES}):
    for _ in range({BATCH}):
        there.send(b"x")
    there.recv(100)
"""


def processed(cpu: int) -> int:
    """Packets that a CPU has received, in whichever network."""
    for line in Path("/proc/net/softnet_stat").read_text().splitlines():
        columns = [int(column, 16) for column in line.split()]
        if columns[12] == cpu:
            return columns[0]
    raise AssertionError(f"no CPU {cpu}")


def send_packets(place: Placement) -> None:
    """From the client to the server, which answers a batch with one packet."""
    with subprocess.Popen(
        place.server.command([sys.executable, "-c", RECEIVE]),
        env=guard_environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as receiver:
        assert receiver.stdout.readline() == "ready\n"
        command = place.client.command([sys.executable, "-c", SEND, place.server_address])
        subprocess.run(command, env=guard_environment(), timeout=60, check=True)
        assert receiver.wait(60) == 0


@pytest.mark.parametrize(
    ("cpus", "mask"),
    [
        ([0], "00000001"),
        ([1, 3], "0000000a"),
        ([32], "00000001,00000000"),
        ([0, 65], "00000002,00000000,00000001"),
    ],
)
def test_a_mask_has_a_bit_for_each_cpu_and_words_of_32(cpus: list[int], mask: str) -> None:
    assert mask_of(cpus) == mask
    assert cpus_of(f"{mask}\n") == cpus


def test_every_queue_of_a_card_is_steered_and_read_back(tmp_path: Path) -> None:
    device = tmp_path / "class/net/card0"
    for number in (0, 1):
        (device / f"queues/rx-{number}").mkdir(parents=True)
        (device / f"queues/rx-{number}/rps_flow_cnt").write_text("2048\n")
    (tmp_path / "drivers/fastcard").mkdir(parents=True)
    (device / "device").mkdir()
    (device / "device/driver").symlink_to(tmp_path / "drivers/fastcard")
    link_end.steer("card0", [2, 5], tmp_path)
    found = link_end.read_end("card0", tmp_path)
    assert found == {
        "device": "card0",
        "cable": "fastcard",
        "gro": None,
        "rps_cpus": [[2, 5], [2, 5]],
        "rfs_flows": 4096,
    }
    assert steering.goes_to(found, (5, 2))


def test_an_end_without_queues_or_with_one_that_goes_elsewhere_is_not_steered() -> None:
    assert not steering.goes_to({"rps_cpus": []}, (0,))
    assert not steering.goes_to({"rps_cpus": [[0], [1]]}, (0,))


@pytest.mark.parametrize("only", ["server", "client"])
def test_a_cable_that_is_steered_at_one_end_only_is_not_steered(
    only: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(_: Sequence[str], device: str, cpus: Sequence[int]) -> dict[str, Any]:
        end = {"device": device, "cable": "veth", "gro": False, "rfs_flows": 0, "refused": None}
        return {**end, "rps_cpus": [list(cpus) if device == only else []]}

    monkeypatch.setattr(steering, "steer_end", half)
    found = steering.steer(OWN_SIDE, {"server": ((), (0,)), "client": ((), (1,))})
    assert found.kind == UNSTEERED
    assert "the kernel ignored it" in str(found.note)


@NEEDS_ROOT
@NEEDS_TWO_CPUS
@pytest.mark.parametrize(("wanted", "receiver"), [(OWN_SIDE, CPUS[0]), (UNSTEERED, CPUS[-1])])
def test_what_the_client_sends_is_received_on_the_cpu_that_it_is_steered_to(
    wanted: str, receiver: int
) -> None:
    with make_placement("netns", [CPUS[0]], [CPUS[-1]], wanted) as place:
        found = place.describe()
        before = processed(receiver)
        send_packets(place)
        assert processed(receiver) - before >= BATCHES * BATCH
    assert found["steering"] == wanted
    assert found["steering_note"] is None
    ends = found["ends"]
    assert isinstance(ends, dict)
    for side, cpu in (("server", CPUS[0]), ("client", CPUS[-1])):
        assert ends[side]["cable"] == "veth"
        assert ends[side]["gro"] is False
        assert ends[side]["rps_cpus"] == [[cpu] if wanted == OWN_SIDE else []]


def test_on_loopback_nothing_is_steered_and_that_is_said_where_it_was_asked_for() -> None:
    for wanted in (OWN_SIDE, UNSTEERED):
        with make_placement("loopback", [CPUS[0]], [CPUS[0]], wanted) as place:
            found = place.describe()
        assert found["steering"] == UNSTEERED
        assert found["ends"]["server"]["cable"] == "lo"
        note = str(found["steering_note"])
        assert ("loopback is one device for both sides" in note) == (wanted == OWN_SIDE)


def test_an_end_that_cannot_be_asked_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "WITH_ITS_DEVICES", "echo 'mount: no such thing' >&2; exit 1")
    found = steering.steer(OWN_SIDE, dict.fromkeys(("server", "client"), ((), (0,))))
    assert found.kind == UNSTEERED
    assert found.server is found.client is None
    assert "mount: no such thing" in str(found.note) or "unshare" in str(found.note)
