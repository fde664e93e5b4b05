"""Hosts in a study: what names one, and what is refused before anybody is asked."""

from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.record.study import Study
from regatta.record.study.placement import HostName, host_name
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


CLUSTER = "tcp://scheduler:8786"


def parse(tmp_path: Path, **keys: object) -> Study:
    lines = "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in keys.items())
    text = f'name = "mine"\n[placement]\n{lines}{CELL}'
    return fake_races.parse(text, tmp_path)


def test_one_server_and_one_client_are_named(tmp_path: Path) -> None:
    study = parse(tmp_path, kind="hosts", server="ssh://a", clients="ssh://b", address="10.0.0.1")
    assert (study.server, study.clients, study.address) == ("ssh://a", ("ssh://b",), "10.0.0.1")
    assert host_name("ssh://b") == HostName("b")


def test_workers_of_a_cluster_are_named_as_the_cluster_names_them(tmp_path: Path) -> None:
    named = {"kind": "hosts", "cluster": CLUSTER, "server": "0", "clients": ["tcp://10.0.0.2:7"]}
    study = parse(tmp_path, **named)
    assert (study.cluster, study.server, study.client_hosts) == (
        CLUSTER,
        "0",
        ("tcp://10.0.0.2:7",),
    )


def test_machines_behind_one_name_are_told_apart_by_their_ports(tmp_path: Path) -> None:
    hosts = ["ssh://b:2222", "ssh://b:2223"]
    study = parse(tmp_path, kind="hosts", server="ssh://b", clients=hosts)
    assert study.client_count == 2


def test_several_clients_are_a_number_or_hosts(tmp_path: Path) -> None:
    study = parse(tmp_path, kind="netns", clients=8)
    assert (study.client_count, study.client_hosts) == (8, ())
    hosts = ["ssh://b", "ssh://c"]
    study = parse(tmp_path, kind="hosts", server="ssh://a", clients=hosts)
    assert (study.client_count, study.client_hosts) == (2, ("ssh://b", "ssh://c"))


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({"kind": "hosts"}, "`placement.server` is missing"),
        ({"kind": "hosts", "server": "ssh://a"}, "`placement.clients` is missing"),
        ({"kind": "netns", "server": "ssh://a"}, '`placement.server` is only for kind = "hosts"'),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": 3},
            '`placement.clients` is a number; kind = "hosts" needs a list of hosts',
        ),
        ({"kind": "netns", "clients": ["ssh://b"]}, "`placement.clients` names hosts, but only"),
        ({"kind": "netns", "clients": 0}, "it must be a whole number from 1 to 64, or hosts"),
        ({"kind": "netns", "clients": 65}, "it must be a whole number from 1 to 64, or hosts"),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": ["ssh://b", 3]},
            "or the number of clients",
        ),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": ["ssh://b", "ssh://b"]},
            "it must be a list without duplicates",
        ),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": ["ssh://b", "ssh://root@b:22"]},
            "`placement.clients` names a host twice",
        ),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": ["ssh://b", "ssh://root@a"]},
            "`placement.clients` contains the server's host",
        ),
        (
            {"kind": "hosts", "server": "ssh://a", "clients": ["ssh://a"]},
            'to race on one host, use kind = "netns"',
        ),
        (
            {"kind": "netns", "cluster": CLUSTER},
            '`placement.cluster` is only for kind = "hosts"',
        ),
        (
            {"kind": "hosts", "cluster": "scheduler", "server": "a", "clients": ["b"]},
            "it must be the address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT",
        ),
        (
            {"kind": "hosts", "cluster": "tcp://s:99999", "server": "a", "clients": ["b"]},
            "`placement.cluster` is 'tcp://s:99999'; it must be the address",
        ),
        (
            {"kind": "hosts", "cluster": CLUSTER, "server": "ssh://a", "clients": ["b"]},
            "it must be the name or address of a worker of `placement.cluster`",
        ),
        (
            {"kind": "hosts", "cluster": CLUSTER, "server": "a", "clients": ["a\tb"]},
            "it must be the name or address of a worker of `placement.cluster`",
        ),
        (
            {"kind": "hosts", "cluster": CLUSTER, "server": "a", "clients": ["a"]},
            "`placement.clients` contains the server's host",
        ),
        (
            {"kind": "hosts", "server": "a", "clients": ["ssh://b"]},
            "it must be ssh://HOST",
        ),
    ],
)
def test_what_cannot_be_raced_is_said_in_one_line(
    tmp_path: Path, keys: dict[str, object], complaint: str
) -> None:
    with pytest.raises(StudyError) as raised:
        parse(tmp_path, **keys)
    assert complaint in str(raised.value)
