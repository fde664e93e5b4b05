"""Energy from RAPL, with counters in a folder: no machine of the tests has any."""

import os
from pathlib import Path

import pytest

from regatta.measure.accounts import energy
from regatta.measure.accounts.whole_cpu import STAT, WholeCpu
from regatta.measure.trial.side import Watch
from regatta.record.counters import Counter, counted
from regatta.record.metrics import BY_NAME
from tests.lab import fake_records

WRAPS_AT = 1_000_000


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that takes 2 W when idle, with its counters in this folder."""
    monkeypatch.setattr(energy, "idle_uw", lambda: 2_000_000.0)
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)


def add_domain(powercap: Path, folder: str, name: str, uj: int) -> Path:
    domain = powercap / folder
    domain.mkdir(parents=True, exist_ok=True)
    (domain / "name").write_text(f"{name}\n")
    (domain / "max_energy_range_uj").write_text(f"{WRAPS_AT}\n")
    (domain / "energy_uj").write_text(f"{uj}\n")
    return domain / "energy_uj"


def metered(*later: tuple[Path, str]) -> dict[str, Counter]:
    """The counters of a window in which these files change."""
    with energy.metering() as found:
        for path, text in later:
            path.write_text(text)
    return {one.event: one for one in found}


def test_packages_are_added_and_their_parts_are_not(tmp_path: Path) -> None:
    first = add_domain(tmp_path, "intel-rapl:0", "package-0", 100)
    core = add_domain(tmp_path, "intel-rapl:0:0", "core", 0)
    memory = add_domain(tmp_path, "intel-rapl:0:1", "dram", 0)
    second = add_domain(tmp_path, "intel-rapl:1", "package-1", 500)
    found = metered((first, "400"), (core, "9999"), (memory, "9999"), (second, "1500"))
    assert (found["energy"].value, found["energy"].unit) == (1300, "µJ")


def test_a_counter_may_wrap_once(tmp_path: Path) -> None:
    path = add_domain(tmp_path, "intel-rapl:0", "package-0", WRAPS_AT - 100)
    assert metered((path, "50"))["energy"].value == 150


def test_idle_energy_is_that_of_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = add_domain(tmp_path, "intel-rapl:0", "package-0", 0)
    times_ns = iter([0, 500_000_000])
    monkeypatch.setattr(energy.time, "monotonic_ns", lambda: next(times_ns))
    assert metered((path, "9000"))["idle-energy"].value == 1_000_000


@pytest.mark.parametrize("text", ["", "-1", "zero"])
def test_without_readable_counters_there_is_nothing(tmp_path: Path, text: str) -> None:
    assert metered() == {}
    path = add_domain(tmp_path, "intel-rapl:0", "package-0", 0)
    assert metered((path, text)) == {}
    assert metered((path, "1")) == {}


def energy_of(*counters: Counter) -> tuple[object, ...]:
    """µJ per request, gross and net, of a trial of 100 requests."""
    by_name = {("server", "cpus", one.event): one for one in counters}
    trial = fake_records.trial(by_name, answered=100)
    names = ("energy_per_request_uj", "net_energy_per_request_uj")
    return tuple(BY_NAME[name].read(trial, "server") for name in names)


def test_energy_per_request_is_gross_and_net() -> None:
    used = counted("energy", 5_000, "µJ"), counted("idle-energy", 3_000, "µJ")
    assert energy_of(*used) == (50, 20)
    assert energy_of(used[0]) == (50, "not supported")
    for idle in (5_000, 6_000):
        assert energy_of(used[0], counted("idle-energy", idle, "µJ")) == (50, "not counted")
    assert energy_of() == ("not supported", "not supported")


def test_a_window_records_them_for_the_server(tmp_path: Path) -> None:
    path = add_domain(tmp_path, "intel-rapl:0", "package-0", 0)
    (cpu, *_) = os.sched_getaffinity(0)
    with Watch(WholeCpu(STAT, server=(cpu,))) as watch:
        path.write_text("70")
    used = {event: one.value for (_, _, event), one in watch.counters.items()}
    assert used["energy"] == 70
    assert {"busy-time", "idle-energy"} <= set(used)
