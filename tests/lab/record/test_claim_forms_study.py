"""What a claim may say of several numbers of connections, of gaps and of bounds."""

import pytest

from regatta.errors import StudyError
from regatta.judge.claims.comparisons import comparisons
from regatta.record.inputs import SHAPES
from regatta.record.study.claim_cells import with_study_connections
from regatta.record.study.statement import KINDS
from tests.lab.record.test_claims_study import CELLS, POOL, parsed, shipped

COST = 'metric = "task_clock"\n'
SEVERAL = COST + "connections = [5, 10]\n"


def test_the_published_claims_are_of_every_form() -> None:
    study = shipped("reports")
    found = {claim.id: claim for claim in study.claims}
    kinds = {said.kind for claim in study.claims for said in claim.statements}
    assert kinds == set(KINDS) - {"shape", "client_engines"} | {*SHAPES}
    unnamed = [name for name, claim in found.items() if not claim.statements[0].connections]
    assert unnamed == ["B19", "B20", "B21", "B22"], "whose source names no number"
    labels = {
        name: [one.label for one in comparisons(with_study_connections(claim, study.cells))]
        for name, claim in found.items()
    }
    assert labels["A15"][-1] == "select at 100 connections (client): below 0.1"
    assert labels["B10"] == [
        "thread-per-client from 10 to 25 connections: rising",
        "thread-per-client from 25 to 50 connections: rising",
        "select from 10 to 25 connections: rising",
        "select from 25 to 50 connections: rising",
        "iterative from 10 to 25 connections: rising",
    ]
    assert labels["B16"] == ["select at 10, 25, 50 connections: grows sublinearly"]
    assert labels["C8"] == [
        "iterative from 1 to 3 connections (system time): rising",
        "iterative from 1 to 3 connections (user time): falling",
    ]
    assert labels["D10"] == [
        "at 5 connections: select nearer to iterative than to thread-per-client"
    ]
    assert labels["D12"] == [
        "iterative, thread-per-client, select from 5 to 15 connections: the gap widens"
    ]
    assert labels["D14"] == [
        "growth from 5 to 15 connections: thread-per-client < iterative",
        "growth from 5 to 15 connections: select < iterative",
    ]
    assert len(labels["B22"]) == 10, "one for each number of the study"
    for of_claim in labels.values():
        assert len(set(of_claim)) == len(of_claim), "a table has one row for each"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (SEVERAL + 'shape = "rising"', "task_clock: rising with the connections"),
        (SEVERAL + 'growth = ["select~iterative"]', "growth: select ~ iterative"),
        (SEVERAL + 'widens = ["select", "iterative"]', "the gap of select, iterative widens"),
        (SEVERAL + 'below = "5 us"', "task_clock < 5 us"),
        (SEVERAL.replace("task_clock", "branch_miss_rate") + 'above = "5 %"', "> 5 %"),
        (SEVERAL.replace("task_clock", "throughput") + "above = 5", "throughput > 5"),
        (SEVERAL.replace("task_clock", "latency_p99") + 'below = "5 ms"', "latency_p99 < 5 ms"),
    ],
)
def test_a_form_in_signs(body: str, words: str) -> None:
    (found,) = parsed(body).claims
    assert found.statements[0].signs().endswith(words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (COST + 'connections = 5\nshape = "rising"', "`claim X1.connections` must be at least two"),
        (COST + 'connections = 5\nwidens = ["select", "iterative"]', "because `widens` needs them"),
        (SEVERAL + 'shape = "linear"', "at least three numbers, because `shape` needs them"),
        (SEVERAL + 'shape = "rising"\nwithin = "5 %"', "is only for equality"),
        (SEVERAL + 'shape = "rising"\nat_least = 2', "cannot be combined with `shape`"),
        (SEVERAL + 'growth = ["select"]', "at least two different names"),
        (SEVERAL + 'growth = ["select", "iterative"]\nwithin = "5 us"', "`claim X1.within`"),
        (SEVERAL + 'widens = ["select", "iterative"]\ndesigns = "select"', "follows from `widens`"),
        (SEVERAL + 'nearer = ["select", "iterative"]', "the first nearer to the second"),
        (
            SEVERAL + 'nearer = ["select", "iterative", "nginx"]',
            "`claim X1.nearer` contains 'nginx'",
        ),
        (SEVERAL + 'widens = ["select"]', "a list of two to 5"),
        (SEVERAL + "below = 5", '`claim X1.below` is 5; it must be an amount such as "0.1 us"'),
        (SEVERAL + 'below = "5 ms"', 'as "0.1 us"'),
        (SEVERAL + 'below = "5 us"\nwithin = "5 %"', "is only for equality"),
        (SEVERAL + 'below = "5 us"\nabove = "3 us"', "it has `below` and `above`"),
        (SEVERAL.replace("task_clock", "throughput") + "above = true", "a number from 0"),
        (SEVERAL.replace("task_clock", "throughput") + "above = nan", "a number from 0"),
        (SEVERAL.replace("task_clock", "throughput") + "above = -1", "a number from 0"),
    ],
)
def test_a_form_that_cannot_be_one_is_refused_in_one_line(body: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        parsed(body)
    assert words in str(refused.value)
    assert "X1" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_claim_that_names_no_connections_is_over_those_that_have_all_its_cells() -> None:
    order = 'order = ["select", "prefork-accept"]'
    study = parsed(COST + order, CELLS.replace('engine = ["thread", "fork"]', "") + POOL)
    (found,) = study.claims
    assert found.statements[0].connections == ()
    assert with_study_connections(found, study.cells).statements[0].connections == (10,)


def test_the_cells_of_one_family_are_not_filled_with_those_of_another() -> None:
    """select has 20 connections with another engine than the two share."""
    cells = CELLS.replace(', "fork"', "").replace(", 20]", "]")
    cells += '[[cells]]\ndesigns = ["select"]\nconnections = 20\nengine = "epoll"\n'
    study = parsed(COST + 'order = ["select", "iterative"]', cells)
    assert with_study_connections(study.claims[0], study.cells).statements[0].connections == (5, 10)


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        ('shape = "rising"', CELLS.replace("[5, 10, 20]", "5")),
        ('order = ["select", "epoll"]', CELLS + '[[cells]]\ndesigns = ["epoll"]\nconnections = 7'),
    ],
)
def test_a_study_without_enough_numbers_of_connections_is_told_so(body: str, cells: str) -> None:
    with pytest.raises(StudyError, match="the claim X1 names no `connections`") as refused:
        parsed(COST + body, cells)
    assert "\n" not in str(refused.value)


def test_of_several_statements_only_some_may_name_connections() -> None:
    body = (
        COST + 'order = ["select", "iterative"]\n'
        'and = { order = ["select", "thread-per-client"], connections = 20 }'
    )
    study = parsed(body)
    first, second = with_study_connections(study.claims[0], study.cells).statements
    assert (first.connections, second.connections) == ((5, 10, 20), (20,))
