"""Which cells share a table, and along which axis."""

from dataclasses import replace

import pytest

from regatta.judge.grouping import Members, group, titles
from regatta.record.study import parse_study
from regatta.record.study.find import Design

DESIGNS = [Design("select", ""), Design("epoll", ""), Design("prefork", "", pool=True)]


def grouped(text: str) -> list[Members]:
    cells = parse_study(f'name = "a"\n{text}', DESIGNS).cells
    return group([replace(cell, id=number) for number, cell in enumerate(cells, start=1)])


@pytest.mark.parametrize(
    ("cells", "axis", "steps"),
    [
        ("connections = [1, 10]", "connections", [1, 10]),
        ("connections = 100\nidle = [0, 1000]", "idle", [0, 1000]),
        ("connections = 100\nslow = [0, 5]", "slow", [0, 5]),
        ("connections = 5\nidle = 100", "connections", [5]),
        ('connections = 5\nload = "open"\nduration_s = 1\nrate = [5, 9]', "rate", [5, 9]),
    ],
)
def test_the_axis_is_the_quantity_that_varies_else_connections(
    cells: str, axis: str, steps: list[int]
) -> None:
    (found,) = grouped(f'[[cells]]\ndesigns = "all"\n{cells}')
    assert (found.axis.name, found.steps) == (axis, steps)


def test_the_quantity_with_the_most_steps_is_the_axis_and_others_split_tables() -> None:
    found = grouped('[[cells]]\ndesigns = "all"\nconnections = [1, 10]\nidle = [0, 10, 100]')
    assert [members.axis.name for members in found] == ["idle", "idle"]
    assert titles(found) == ["1 connection", "10 connections"]
    assert all(len(members.cells) == 9 for members in found)


def test_a_design_without_a_pool_is_at_every_pool_size() -> None:
    (found,) = grouped(
        '[[cells]]\ndesigns = ["select", "epoll"]\nconnections = 10\n'
        '[[cells]]\ndesigns = ["prefork"]\nconnections = 10\nworkers = [2, 4, 8]'
    )
    assert (found.axis.name, found.steps) == ("workers", [2, 4, 8])
    for step in found.steps:
        assert [cell.contender for cell in found.at(step)] == ["select", "epoll", "prefork"]


def test_it_is_at_every_pool_size_even_if_that_is_not_the_axis() -> None:
    found = grouped(
        '[[cells]]\ndesigns = ["select"]\nconnections = [1, 10, 100]\n'
        '[[cells]]\ndesigns = ["prefork"]\nconnections = [1, 10, 100]\nworkers = [2, 4]'
    )
    assert titles(found) == ["2 workers", "4 workers"]
    for members in found:
        assert [cell.contender for cell in members.at(10)] == ["select", "prefork"]


def test_server_options_split_tables_and_are_in_titles() -> None:
    text = '[[cells]]\ndesigns = "all"\nconnections = [1, 9]\nscope = "process"\n'
    found = grouped(f"{text}backlog = [3, 50]\n{text}backlog = 3\ncounts_taskset = true")
    assert titles(found) == [
        "listen queue of 3",
        "listen queue of 50",
        "listen queue of 3, taskset counted",
    ]


def test_a_title_says_in_few_words_what_was_done() -> None:
    of = '[[cells]]\ndesigns = "all"\nconnections = [1, 9]\nengine = ["thread", "fork"]\n'
    found = grouped(f'{of}{of}scope = "process"\nlinger_s = 0.2')
    assert titles(found) == [
        "threads client, window only",
        "fork client, window only",
        "threads client, whole process",
        "fork client, whole process",
    ]


def test_works_and_loads_are_never_in_one_table() -> None:
    found = grouped('[[cells]]\ndesigns = "all"\nconnections = [1, 2]\nwork = ["scan", "wait=5ms"]')
    assert titles(found) == ["work scan", "work wait=5ms"]


def test_rounds_split_cells_only_if_ambiguous() -> None:
    (found,) = grouped('[[cells]]\ndesigns = "all"\nconnections = [1, 10]\nrequests = 100')
    assert len(found.cells) == 6
    parted = grouped(
        '[[cells]]\ndesigns = "select"\nconnections = 1\nrounds = 1\n'
        '[[cells]]\ndesigns = "select"\nconnections = 1\nrounds = 2'
    )
    assert titles(parted) == ["rounds 1", "rounds 2"]
