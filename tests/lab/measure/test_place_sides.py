"""What a race in containers wants, of its study."""

from dataclasses import replace
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.measure.places.sides import ContainerWish
from regatta.measure.programs import Programs
from regatta.measure.race.place_sides import check_programs, containers_of, place_sides
from regatta.record.study import Study
from tests.lab import fake_races

TEXT = """
name = "boxes"
[placement]
kind = "containers"
network = "veth"
engine = "docker"
[contenders.boxed]
command = ["/in/the/image", "{port}"]
image = "nginx:1.27"
[contenders.mounted]
command = ["sh", "{port}"]
[contenders.unraced]
command = ["/no/such", "{port}"]
image = "other"
[[cells]]
designs = ["select"]
contenders = ["boxed", "mounted"]
dialect = "http"
connections = 2
load = "burst"
"""
PROGRAMS = Programs(Path("bin/s"), Path("/bin/c"), "", "", (), dial=Path("/bin/d"))


def study(text: str = TEXT) -> Study:
    return fake_races.parse(text, Path("/folder"))


def test_it_is_the_networks_the_engines_and_the_images_of_the_study() -> None:
    folder, dial = Path("/folder"), Path("/bin/d")
    wish = ContainerWish("veth", "docker", ("nginx:1.27",), dial, folder)
    assert containers_of(study(), PROGRAMS) == wish
    text = TEXT.replace('contenders = ["boxed", "mounted"]', "")
    alone = replace(wish, images=(), folder=None)
    assert containers_of(study(text), PROGRAMS) == alone


def test_a_program_in_an_image_is_not_looked_for_here() -> None:
    check_programs(study())
    check_programs(study(TEXT.replace('command = ["/in/the/image", "{port}"]', "port = 80")))
    elsewhere = TEXT.replace('"containers"\nnetwork = "veth"\nengine = "docker"', '"loopback"')
    with pytest.raises(StudyError, match="contenders.boxed.command.*the program /in/the"):
        check_programs(study(elsewhere))
    with pytest.raises(StudyError, match="contenders.mounted.command"):
        check_programs(study(TEXT.replace('"sh"', '"/no/sh"')))


def test_a_whole_process_cannot_be_counted_in_a_container() -> None:
    text = TEXT.replace('load = "burst"', 'scope = ["window", "process"]')
    with pytest.raises(StudyError, match="not possible with containers"):
        place_sides(study(text), PROGRAMS)


def test_as_many_clients_are_placed_as_the_study_has() -> None:
    text = fake_races.TINY.replace("client_cpus = [0]", "client_cpus = [0]\nclients = 3")
    with place_sides(fake_races.parse(text), PROGRAMS) as place:
        assert len(place.clients) == 3
