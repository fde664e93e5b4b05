"""Hosts in a study: what names one, and what is refused before anybody is asked."""

import pytest

from regatta.errors import StudyError
from regatta.record.study import Study
from regatta.record.study.placement import host_name
from tests.lab import fake_races

CELL = '[[cells]]\ndesigns = ["select"]\nconnections = 1\n'


@pytest.mark.parametrize(
    ("text", "words", "folder"),
    [
        ("ssh://a", ["a"], None),
        ("ssh://me@a.example:2222", ["-l", "me", "-p", "2222", "a.example"], None),
        ("ssh://a/opt/regatta/", ["a"], "/opt/regatta"),
        ("ssh://[fd00::7]", ["fd00::7"], None),
    ],
)
def test_a_host_is_named_as_a_url(text: str, words: list[str], folder: str | None) -> None:
    assert host_name(text).ssh_words() == words
    assert host_name(text).folder == folder


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "tcp://a",
        "ssh://",
        "ssh://-oProxyCommand=x",
        "ssh://-l@a",
        "ssh://a;b",
        "ssh://me:pw@a",
    ],
)
def test_what_ssh_or_a_shell_could_take_for_more_than_a_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        host_name(text)


HOSTS = 'kind = "hosts"\n'
A, B = 'server = "ssh://a"\n', 'clients = ["ssh://b"]\n'
CLUSTER = 'cluster = "tcp://scheduler:8786"\n'


def parse(placement: str) -> Study:
    return fake_races.parse(f'name = "mine"\n[placement]\n{placement}{CELL}')


def test_workers_of_a_cluster_are_named_as_the_cluster_names_them() -> None:
    one = 'server = "0"\nclients = "tcp://10.0.0.2:7"\naddress = "10.0.0.1"\n'
    study = parse(HOSTS + CLUSTER + one)
    assert (study.cluster, study.address) == ("tcp://scheduler:8786", "10.0.0.1")
    assert (study.server, study.client_hosts) == ("0", ("tcp://10.0.0.2:7",))


@pytest.mark.parametrize(
    ("placement", "hosts"),
    [
        ('kind = "netns"\nclients = 2\n', ()),
        (HOSTS + A + 'clients = ["ssh://b", "ssh://c"]\n', ("ssh://b", "ssh://c")),
        # Machines behind one name have different ports.
        (
            HOSTS + 'server = "ssh://b"\nclients = ["ssh://b:22022", "ssh://b:2223"]\n',
            ("ssh://b:22022", "ssh://b:2223"),
        ),
    ],
)
def test_several_clients_are_a_number_or_hosts(placement: str, hosts: tuple[str, ...]) -> None:
    study = parse(placement)
    assert (study.client_count, study.client_hosts) == (2, hosts)


@pytest.mark.parametrize(
    ("placement", "complaint"),
    [
        (HOSTS, "`placement.server` is missing"),
        (HOSTS + A, "`placement.clients` is missing"),
        (A, '`placement.server` is only for kind = "hosts"'),
        (HOSTS + A + "clients = 3\n", '`placement.clients` is a number; kind = "hosts" needs'),
        (B, "`placement.clients` names hosts, but only"),
        ("clients = 0\n", "it must be a whole number from 1 to 64, or hosts"),
        ("clients = 65\n", "it must be a whole number from 1 to 64, or hosts"),
        (HOSTS + A + 'clients = ["ssh://b", 3]\n', "or the number of clients"),
        (HOSTS + A + 'clients = ["ssh://b", "ssh://b"]\n', "must be a list without duplicates"),
        (
            HOSTS + A + 'clients = ["ssh://b", "ssh://root@b:22"]\n',
            "`placement.clients` names a host twice",
        ),
        (HOSTS + A + 'clients = ["ssh://b", "ssh://root@a"]\n', "contains the server's host"),
        (HOSTS + A + 'clients = ["ssh://a"]\n', 'to race on one host, use kind = "netns"'),
        (HOSTS + 'server = "a"\n' + B, "it must be ssh://HOST"),
        (CLUSTER, '`placement.cluster` is only for kind = "hosts"'),
        (HOSTS + 'cluster = "scheduler"\n', "of a Dask scheduler, tcp://HOST:PORT or tls://"),
        (HOSTS + 'cluster = "tcp://s:99999"\n', "`placement.cluster` is 'tcp://s:99999'; it must"),
        (HOSTS + CLUSTER + A, "it must be the name or address of a worker"),
        (HOSTS + CLUSTER + 'server = "a"\nclients = ["a\\tb"]\n', "or address of a worker"),
        (HOSTS + CLUSTER + 'server = "a"\nclients = ["a"]\n', "contains the server's host"),
    ],
)
def test_what_cannot_be_raced_is_said_in_one_line(placement: str, complaint: str) -> None:
    with pytest.raises(StudyError) as raised:
        parse(placement)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
