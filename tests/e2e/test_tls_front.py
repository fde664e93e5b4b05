"""TLS front ends: the configurations and certificates of deploy/tls with a real stunnel and nginx.
Only names, ports and folders are replaced."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Done, run, run_well
from tests.servers import PATIENCE_S, REPOSITORY, RunningServer, ask_over, needs, rows_of, running
from tests.sockets import free_port, wait_until_accepting

NGINX = """
daemon off; pid {folder}/nginx.pid; error_log stderr;{user}
events {{}}
http {{ access_log off; {temporary} include {site}; }}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def make_certificates(folder: Path, host: str, address: str) -> None:
    for wanted in (["server", host, address], ["client", "client"]):
        run_well(REPOSITORY / "deploy/tls/certificates", *wanted, cwd=folder)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates for this host."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder, "localhost", "127.0.0.1")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("server"), "--work", "snapshot") as started:
        yield started


def configured(name: str, folder: Path, tls: Path, server: RunningServer, port: int) -> list[str]:
    """The command of a front end with the shipped configuration: folders, addresses and ports are
    those of this test."""
    text = (REPOSITORY / "deploy/tls" / f"{name}.conf").read_text()
    for shipped, here in (
        ("/etc/regatta/tls", str(tls)),
        ("127.0.0.1:7342", server.address),
        ("7343", str(port)),
    ):
        assert shipped in text
        text = text.replace(shipped, here)
    is_root = os.geteuid() == 0
    if not is_root:
        text = re.sub(r"^set[ug]id = .*\n", "", text, flags=re.MULTILINE)
    site, main = folder / f"{name}.conf", folder / "main.conf"
    site.write_text(text)
    if name == "stunnel":
        return [needs("stunnel4"), str(site)]
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in TEMPORARY)
    user = " user root;" if is_root else ""
    main.write_text(NGINX.format(folder=folder, site=site, user=user, temporary=temporary))
    return [needs("nginx"), "-e", "stderr", "-c", str(main)]


@pytest.fixture(scope="module", params=["stunnel", "nginx"])
def front(
    request: pytest.FixtureRequest,
    tls: Path,
    server: RunningServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, int]]:
    """Name and port of the front end."""
    folder, port = tmp_path_factory.mktemp(request.param), free_port()
    command, log = configured(request.param, folder, tls, server, port), folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        wait_until_accepting(process, port, log=log.read_text)
        yield request.param, port
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def curl(tls: Path, port: int, *options: str) -> Done:
    url = f"https://localhost:{port}/top?n=3"
    return run(needs("curl"), "-sS", "--fail", "--cacert", tls / "ca.pem", *options, url)


def certificate(tls: Path, name: str) -> tuple[str, ...]:
    return ("--cert", str(tls / f"{name}.pem"), "--key", str(tls / f"{name}.key"))


def test_clients_with_a_certificate_are_answered(front: tuple[str, int], tls: Path) -> None:
    for version in ("1.2", "1.3"):
        done = curl(tls, front[1], *certificate(tls, "client"), "--tls-max", version)
        assert done.returncode == 0, done.stderr
        assert len(rows_of(done.stdout.encode() + b"\n")) == 3


def test_clients_without_a_valid_certificate_are_refused(
    front: tuple[str, int], tls: Path, tmp_path: Path
) -> None:
    """None, that of another authority, that of the server."""
    make_certificates(tmp_path, "host.example", "192.0.2.7")
    for presented in ((), certificate(tmp_path, "client"), certificate(tls, "server")):
        done = curl(tls, front[1], *presented)
        assert done.returncode != 0, presented
        assert "rank" not in done.stdout


def test_clients_without_tls_are_refused(front: tuple[str, int]) -> None:
    with socket.create_connection(("127.0.0.1", front[1]), PATIENCE_S) as connection:
        connection.sendall(b"top 2\n")
        received = b""
        with contextlib.suppress(ConnectionError):
            received = connection.recv(65536)
    assert b"rank" not in received


def test_stunnel_forwards_the_line_dialect(front: tuple[str, int], tls: Path) -> None:
    if front[0] != "stunnel":
        pytest.skip("nginx is for HTTP")
    context = ssl.create_default_context(cafile=str(tls / "ca.pem"))
    context.load_cert_chain(tls / "client.pem", tls / "client.key")
    with (
        socket.create_connection(("127.0.0.1", front[1]), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        for _ in range(2):
            assert len(rows_of(ask_over(connection))) == 2
