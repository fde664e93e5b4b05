"""`regatta versus --image`: servers in images that are made here, as none can be pulled."""

import json
import shutil
from pathlib import Path

import pytest

from regatta.measure.places.containers.engine import PODMAN, find_engine
from tests.commands import Done, assert_refused, run
from tests.container_engine import containers, import_image, needs_podman
from tests.e2e.racing import (
    PRIORITY,
    ROOT,
    alone,
    environment,
    needs_programs,
    needs_two_cpus,
    regatta,
)

pytestmark = [
    needs_programs,
    needs_podman,
    needs_two_cpus,
    pytest.mark.usefixtures("podman"),
]
LIFE_S = 500.0


def import_server(name: str, folder: Path, expose: str) -> None:
    """Our server with its libraries, started by the image's own command."""
    server = folder / "server"
    shutil.copy(ROOT / "bin" / "regatta-server", server)
    command = [str(server), "--design", "epoll", "--listen", "0.0.0.0:8080", "--no-token"]
    command += ["--allow", "0.0.0.0/0", "--work", "snapshot"]
    changes = [f"ENTRYPOINT {json.dumps(command)}", *filter(None, expose.split(";"))]
    import_image(PODMAN, name, server, *changes)


def versus(folder: Path, *words: str) -> Done:
    with alone():
        return run(
            *PRIORITY, *regatta("versus", *words), cwd=folder, env=environment(), timeout=LIFE_S
        )


@pytest.mark.long
def test_images_race_on_the_port_that_they_expose(tmp_path: Path) -> None:
    import_server("localhost/shop:1.4", tmp_path, "EXPOSE 8080")
    words = ("--image", "localhost/shop:1.4", "--image", "new=localhost/shop:1.4")
    how = "--path /healthz --time 1s --warmup-limit 0 --json --quiet"
    done = versus(tmp_path, *words, *how.split())
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(done.stdout)["groups"]
    cells = {cell["contender"]: cell for cell in group["cells"]}
    assert set(cells) == {"shop-1.4", "new"}
    for cell in cells.values():
        assert cell["metrics"]["server"]["cpu_time_per_request_us"]["value"] > 0
    assert containers() == []


@pytest.mark.parametrize(
    ("expose", "words", "complaint"),
    [
        ("", (), "exposes no port; name the one it listens on with --image-port"),
        ("EXPOSE 80;EXPOSE 443", (), "exposes the ports 80, 443; name the one it listens on"),
        ("EXPOSE 8080", ("sh -c 'exec x {port}'",), "is a command, which cannot race beside an"),
        ("EXPOSE 8080", ("--placement", "netns"), "images run in containers; remove it"),
    ],
)
def test_what_cannot_race_in_images_is_refused_in_one_line(
    tmp_path: Path, expose: str, words: tuple[str, ...], complaint: str
) -> None:
    name = f"localhost/refused:{len(expose)}"
    import_server(name, tmp_path, expose)
    done = versus(tmp_path, *words, "epoll", "--image", name)
    assert_refused(done, name="regatta")
    assert complaint in done.stderr


def test_a_missing_image_names_the_command_that_gets_it(tmp_path: Path) -> None:
    engine = find_engine(PODMAN)
    done = versus(tmp_path, "--image", "localhost/nowhere", "epoll")
    assert done.returncode == 1
    assert f"{engine.name} has no image localhost/nowhere; podman pull" in done.stderr
