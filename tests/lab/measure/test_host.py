"""Calls to another host: an error says where it happened."""

import pytest

from regatta.errors import RegattaError, TrialError
from regatta.measure.places.hosts.host import Host, RemoteObject
from tests.lab.near_hosts import Actor, NearHost


class Client:
    def failure(self, what: str) -> TrialError:
        return TrialError(f"{what}: its last line")


@pytest.fixture
def beta() -> Host:
    return NearHost("ssh://beta")


def raise_full() -> None:
    raise OSError(28, "No space left on device", "/tmp/file")


def test_an_operating_system_error_names_its_host(beta: Host) -> None:
    with pytest.raises(RegattaError, match=r"^on beta: .*No space left on device: '/tmp/file'$"):
        beta.ask(raise_full)


def test_a_programs_failure_names_its_host(beta: Host) -> None:
    error = RemoteObject(beta, Actor(Client())).failure("the client exited with status 1")
    assert str(error) == "on beta: the client exited with status 1: its last line"
