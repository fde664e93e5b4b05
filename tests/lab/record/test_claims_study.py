"""Claims in a study: what they may say, which cells they are over, and what was published."""

from collections import Counter as Tally
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.judge.claims.comparisons import EQUAL, comparisons
from regatta.judge.claims.evidence import measure
from regatta.judge.statistics.blocks_needed import too_few_note
from regatta.record.cell import PROCESS, WINDOW
from regatta.record.inputs import SHAPES, CellSelector, PublishedFigure
from regatta.record.records import TIMED
from regatta.record.study import Study, load_study, parse_study
from regatta.record.study.claim_cells import claim_cells
from regatta.record.study.published import recorded_claims
from regatta.record.study.statement import KINDS, METRIC_SIDES, is_timed
from tests.lab.designs import every_design

STUDIES = Path(__file__).resolve().parents[3] / "studies"
DESIGNS = every_design()
CELLS = """
name = "mine"
[[cells]]
designs = ["iterative", "select", "thread-per-client"]
connections = [5, 10, 20]
engine = ["thread", "fork"]
"""
POOL = '[[cells]]\ndesigns = ["prefork-accept"]\nconnections = 10\nworkers = [2, 15]\n'
BECAUSE = 'because = "start of tasks"\n'
ORDER = 'order = ["iterative~select", "thread-per-client"]\n'
PUBLISHED = {"A": 16, "B": 22, "C": 17, "D": 20, "E": 29, "U": 6}
"""Claims of each source."""
CPU = 'metric = "task_clock"\n'
COST = CPU + "connections = 10\n"
SEVERAL = CPU + "connections = [5, 10]\n"


def claim(body: str, cells: str = CELLS) -> str:
    return f'{cells}\n[[claim]]\nid = "X1"\nsays = "So it is."\n{body}\n'


def parsed(body: str, cells: str = CELLS) -> Study:
    return parse_study(claim(body, cells), DESIGNS)


def shipped(name: str) -> Study:
    return load_study(STUDIES / f"{name}.toml", DESIGNS)


def test_a_claim_is_read_as_it_was_published() -> None:
    (found,) = parsed(
        COST
        + ORDER
        + 'side = "server"\nwhere = "table 3"\nnote = "A misprint."\nwithin = ["5 %", "0.1 us"]'
    ).claims
    (said,) = found.statements
    assert said.groups == (("iterative", "select"), ("thread-per-client",))
    assert (said.side, said.connections) == ("server", (10,))
    assert said.signs() == "iterative ~ select < thread-per-client"
    assert said.within.words() == "5 % or 0.1 us"
    assert (found.per, found.published_agrees, found.source) == ("process", True, None)
    assert (found.said_at, found.note) == ("table 3", "A misprint.")


def test_what_the_second_half_of_a_claim_does_not_say_it_has_from_the_first() -> None:
    (found,) = parsed(
        'metric = "tma_backend_bound"\nconnections = [5, 10]\ncompare = "client < server"\n'
        'and = { metric = "tma_frontend_bound", compare = "server < client" }'
    ).claims
    first, second = found.statements
    assert (first.metric, second.metric) == ("tma_backend_bound", "tma_frontend_bound")
    assert (first.groups, second.groups) == ((("client",), ("server",)), (("server",), ("client",)))
    assert first.connections == second.connections == (5, 10)
    assert second.designs == ("iterative", "select", "thread-per-client"), "under every design"


def test_under_every_design_means_each_that_has_these_cells() -> None:
    more = CELLS + '[[cells]]\ndesigns = ["epoll"]\nconnections = 5\n'
    (found,) = parsed(COST + 'compare = "client<server"', more).claims
    assert "epoll" not in found.statements[0].designs


NO_CELL = "is about a cell that is not in the study: iterative at "


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (COST + ORDER + "colour = 1", "unknown key `claim X1.colour`"),
        (CPU + ORDER, "`claim X1` has no `connections`; add it"),
        (COST, "must have exactly one of order, compare, shape, ratio, growth"),
        (COST + ORDER + 'compare = "client < server"', "it has `order` and `compare`"),
        (COST + 'order = ["select", "select"]', "at least two different names"),
        (COST + 'order = ["select", "nginx"]', "names 'nginx', which the study does not race"),
        (COST + "order = 3", "a list of names"),
        ("connections = 10\n" + ORDER + 'metric = "beauty"', "`claim X1.metric` is 'beauty'"),
        ('metric = "latency_p50"\nside = "server"\nconnections = 5\n' + ORDER, "one of client"),
        (COST + 'compare = "client > server"', "`client < server`, `server < client`"),
        (COST + 'compare = "client < server"\nside = "client"', "follows from `compare`"),
        (COST + 'ratio = ["select", "iterative"]', "has a `ratio` but no `at_least`"),
        (COST + 'ratio = ["select"]\nat_least = 3', "a list of two"),
        (COST + ORDER + "at_least = 1", "`claim X1.at_least` is 1; it must be above 1"),
        (COST + ORDER + "at_least = nan", "a number above 0"),
        (COST + ORDER + BECAUSE, "needs `order` with two designs"),
        (
            COST + 'order = ["select", "iterative"]\nat_least = 2\n' + BECAUSE,
            "is 2; it must be a share of the difference",
        ),
        (
            COST.replace("task_clock", "page_faults") + ORDER.replace("~select", "") + BECAUSE,
            "`metric` must be task_clock",
        ),
        (COST + ORDER + 'because = "system calls: "', "an activity, or a part of one"),
        (COST + BECAUSE + 'shape = "rising"', "needs `order` with two designs"),
        (COST + ORDER + 'because = "starting"', "one of user code, system calls, start of tasks"),
        (COST + ORDER + "because = 5", "one of user code"),
        (COST + 'shape = "round"', "one of linear, sublinear, rising, falling, flat"),
        (COST + ORDER + 'designs = ["select"]', "follows from `order`"),
        (COST + ORDER + 'source = "A"', "defined; add [sources.NAME]"),
        (COST + ORDER + 'published_agrees = "yes"', "true or false"),
        (COST + ORDER + 'work = "play"', "one of scan, classic, snapshot"),
        (COST + ORDER + "and = 3", "`claim X1.and[1]` must be a table"),
        (COST + ORDER + "and = { colour = 1 }", "unknown key `claim X1.and[1].colour`"),
        (CPU + 'connections = 5\nshape = "rising"', "`claim X1.connections` must be at least two"),
        (CPU + 'connections = 5\nwidens = ["select", "iterative"]', "because `widens` needs them"),
        (SEVERAL + 'shape = "linear"', "at least three numbers, because `shape` needs them"),
        (SEVERAL + 'shape = "rising"\nwithin = "5 %"', "is only for equality"),
        (SEVERAL + 'shape = "rising"\nat_least = 2', "cannot be combined with `shape`"),
        (SEVERAL + 'growth = ["select"]', "at least two different names"),
        (SEVERAL + 'growth = ["select", "iterative"]\nwithin = "5 us"', "`claim X1.within`"),
        (SEVERAL + 'widens = ["select", "iterative"]\ndesigns = "select"', "follows from `widens`"),
        (SEVERAL + 'nearer = ["select", "iterative"]', "the first nearer to the second"),
        (SEVERAL + 'nearer = ["select", "iterative", "nginx"]', "X1.nearer` contains 'nginx'"),
        (SEVERAL + 'widens = ["select"]', "a list of two to 5"),
        (SEVERAL + "below = 5", '`claim X1.below` is 5; it must be an amount such as "0.1 us"'),
        (SEVERAL + 'below = "5 ms"', 'as "0.1 us"'),
        (SEVERAL + 'below = "5 us"\nwithin = "5 %"', "is only for equality"),
        (SEVERAL + 'below = "5 us"\nabove = "3 us"', "it has `below` and `above`"),
        (SEVERAL.replace("task_clock", "throughput") + "above = true", "a number from 0"),
        (SEVERAL.replace("task_clock", "throughput") + "above = nan", "a number from 0"),
        (SEVERAL.replace("task_clock", "throughput") + "above = -1", "a number from 0"),
        (f'{COST}{ORDER}within = "5"', "a share below 100 %"),
        (f'{COST}{ORDER}within = "100 %"', "a share below 100 %"),
        (f'{COST}{ORDER}within = "0 %"', "a share below 100 %"),
        (f'{COST}{ORDER}within = ["5 %", "6 %"]', "a share below 100 %"),
        (f'{COST}{ORDER}within = "1 page faults"', 'as "10 %", "0.1 us", or a list of both'),
        (COST + 'order = ["select", "iterative"]\nwithin = "5 %"', "is only for equality"),
        (CPU + "connections = 30\n" + ORDER, NO_CELL + "30 connections"),
        (COST + ORDER + 'engine = "epoll"', NO_CELL + "10 connections with the engine epoll"),
        (COST + ORDER + 'work = "snapshot"', NO_CELL + "10 connections, work snapshot"),
    ],
)
def test_a_claim_that_cannot_be_one_is_refused_in_one_line(body: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        parsed(body)
    assert words in str(refused.value)
    assert "X1" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_difference_to_the_iterative_server_needs_its_cell() -> None:
    over = COST.replace("clock", "clock_over_iterative")
    with pytest.raises(StudyError, match="iterative at 10 connections"):
        parsed(f'{over}order = ["select", "thread-per-client"]', CELLS.replace('"iterative", ', ""))


def test_all_cells_of_a_claim_are_alike_but_for_what_it_compares() -> None:
    """The first family of the study stands, unless the claim names another."""
    study = parsed(COST + ORDER)
    cells = claim_cells(study.claims[0], study.cells, WINDOW)
    assert {cell.engine for cell in cells.values()} == {"thread"}
    study = parsed(COST + ORDER + 'engine = "fork"')
    cells = claim_cells(study.claims[0], study.cells, WINDOW)
    assert {cell.engine for cell in cells.values()} == {"fork"}
    assert claim_cells(study.claims[0], study.cells, PROCESS) == {}


def test_a_family_that_lacks_a_cell_is_not_mixed_with_another() -> None:
    """select has both engines, and comes first with the one that the others lack."""
    both = '[[cells]]\ndesigns = ["select"]\nconnections = 10\nengine = ["epoll", "thread"]\n'
    others = '[[cells]]\ndesigns = ["iterative", "thread-per-client"]\nconnections = 10\n'
    study = parsed(COST + ORDER, f'name = "mine"\n{both}{others}engine = "thread"\n')
    cells = claim_cells(study.claims[0], study.cells, WINDOW)
    assert [cell.engine for cell in cells.values()] == ["thread"] * 3


def test_the_claim_of_the_documentation_is_one(tmp_path: Path) -> None:
    page = (STUDIES.parent / "docs" / "adding-a-claim.md").read_text()
    example = page.partition("```toml\n")[2].partition("```")[0]
    study = parse_study(CELLS.replace("20]", "20, 100]") + example, DESIGNS, tmp_path)
    (tmp_path / "figures.csv").write_text(
        "# Source: a blog\nreport,design,connections,side,task_clock_ms\n"
        "blog,select,100,server,3.5\n"
    )
    (recorded,) = recorded_claims(study)
    assert [figure.value for figure in recorded.published] == [3.5]
    assert "`_per_second`" in page
    for name in METRIC_SIDES:
        assert f"`{name.removesuffix('_per_second')}`" in page, name


@pytest.mark.parametrize(
    ("metric", "value", "unit"),
    [
        ("clock_ghz", 3.15, "GHz"),
        ("instructions_per_second", 6.3e9, "/s"),
        ("elapsed", 120.5, "s"),
        ("latency_max", 120.5, "s"),
        ("latency_by_arrival", None, ""),
        ("page_faults_per_second", None, ""),
    ],
)
def test_what_a_source_does_not_print_follows_from_its_counts_where_it_can(
    tmp_path: Path, metric: str, value: float | None, unit: str
) -> None:
    sides = METRIC_SIDES[metric]
    (tmp_path / "figures.csv").write_text(
        "# Source: a report\nreport,design,connections,side,task_clock_ms,cycles,instructions,"
        f"elapsed_s\nA,select,10,{sides[0]},100,315000000,630000000,120.5\n"
    )
    bound = '"0.1 ms"' if metric == "latency_max" else "0.1"
    body = f'source = "A"\nmetric = "{metric}"\ndesigns = ["select"]\nabove = {bound}'
    study = parse_study(claim(f"connections = 10\n{body}\n") + SOURCE, DESIGNS, tmp_path)
    (recorded,) = recorded_claims(study)
    found = [(round(of.value, 6), of.unit, of.per) for of in recorded.published]
    assert found == ([] if value is None else [(value, unit, "")])


def test_a_design_without_workers_stands_beside_each_size_of_a_pool() -> None:
    cells = CELLS.replace('engine = ["thread", "fork"]', "") + POOL
    order = 'order = ["select", "prefork-accept"]'
    for more, workers in (("", 2), ("\nworkers = 15", 15)):
        study = parsed(COST + order + more, cells)
        found = claim_cells(study.claims[0], study.cells, WINDOW)
        assert found[CellSelector("prefork-accept", 10)].workers == workers
        assert found[CellSelector("select", 10)].workers is None


def test_the_shipped_studies_hold_all_published_claims() -> None:
    """Each with a name of its source's letter, its words, and where the source has them."""
    claims = [*shipped("reports").claims, *shipped("chapter-30").claims]
    assert Tally(found.id[0] for found in claims) == PUBLISHED
    for found in claims:
        assert found.id[1:].isdecimal()
        assert found.source == {"U": "UNP"}.get(found.id[0], found.id[0])
        assert found.says.endswith(".")
        assert found.said_at, found.id
        assert found.note or found.published_agrees, f"{found.id}: which figures contradict it?"
    numbers = [(found.id[0], int(found.id[1:])) for found in claims]
    assert numbers == sorted(set(numbers))


def test_pools_are_compared_at_the_size_that_the_book_had() -> None:
    study = shipped("chapter-30")
    for found in study.claims:
        cells = claim_cells(found, study.cells, WINDOW)
        assert {cell.workers for cell in cells.values()} <= {15, None}


def figures(name: str) -> dict[str, tuple[PublishedFigure, ...]]:
    """By claim."""
    return {of.claim.id: of.published for of in recorded_claims(shipped(name))}


def test_published_figures_stand_with_the_claim_that_rests_on_them() -> None:
    of_reports = figures("reports")
    assert [figure.value for figure in of_reports["E1"]] == [3.19, 421.18]
    assert {figure.unit for figure in of_reports["E1"]} == {"ms"}
    share = of_reports["E5"][1]
    assert share.value == pytest.approx(100 * 82033 / 594002)
    assert (share.unit, share.per) == ("%", "")
    assert of_reports["B3"] == (), "it shows no cache misses"
    waits = of_reports["B1"]
    assert {(figure.metric, figure.side) for figure in waits} == {("elapsed", "client")}
    book = figures("chapter-30")["U4"]
    assert ("third edition", "prethread-mutex", 1.93) in {
        (figure.column, figure.design, figure.value) for figure in book
    }


LOOSE = {"A3"}
"""Whose words are looser than "equal within 10 %" is: 0.0025 and 0.0018 of a CPU are alike."""
OUR_NUMBERS = {"B19", "B20", "B21", "B22"}
"""Whose source names no number of connections."""


def test_the_published_figures_bear_out_the_words_where_they_are_said_to() -> None:
    """So the figures that we take are those that the claim is about."""
    for recorded in recorded_claims(shipped("reports")):
        found = recorded.claim
        orders = [said for said in found.statements if said.kind == "order"]
        orders = [said for said in orders if said.metric != "latency_p50"]
        value = {(of.design, of.connections): of.value for of in recorded.published}
        held = []
        for comparison in comparisons(replace(found, statements=tuple(orders))):
            pair = [(term.selector.design, term.selector.connections) for term in comparison.terms]
            if set(pair) <= value.keys():
                low, high = (value[place] for place in pair)
                equal = 0.9 * high <= low <= 1.1 * high
                held.append(equal if comparison.relation == EQUAL else low < high)
        if held and found.id not in OUR_NUMBERS:
            assert all(held) == (found.published_agrees and found.id not in LOOSE), found.id


SOURCE = '[sources.A]\ntitle = "report A"\npublished = "figures.csv"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("design,value\nselect,1\n", "the header must have report, design"),
        ("report,design,connections,side\nA,select,10,server\n", "and metrics"),
        ("report,design,connections,side,x\nA,select,ten,server,1\n", "row 1"),
        ("report,design,connections,side,x\nA,select,10,server,many\n", "'many'"),
        (None, "cannot read"),
    ],
)
def test_a_file_of_figures_that_is_none_is_refused(
    tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "figures.csv").write_text(text)
    study = parse_study(claim('source = "A"\n' + COST + ORDER) + SOURCE, DESIGNS, tmp_path)
    with pytest.raises(StudyError, match=words):
        recorded_claims(study)


IN_A_FILE = CELLS + '[sources.A]\nclaims = "a.toml"\n'


def test_the_claims_of_a_source_may_lie_in_a_file(tmp_path: Path) -> None:
    """Before the study's own."""
    body = COST + ORDER
    (tmp_path / "a.toml").write_text(claim(body, "") + claim(body, "").replace("X1", "X2"))
    text = claim(body + 'source = "A"', IN_A_FILE).replace("X1", "X3")
    found = parse_study(text, DESIGNS, tmp_path).claims
    assert [(read.id, read.source) for read in found] == [("X1", "A"), ("X2", "A"), ("X3", "A")]
    assert parse_study(text, DESIGNS, tmp_path / "gone", with_claims=False).claims == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[claim]", "it is not valid TOML"),
        ("", "it has no claim"),
        ("[race]\nblocks = 3", "unknown key `race`"),
        (claim(COST, ""), "`claim X1` must have exactly one of order"),
        (claim(COST + 'order = ["select", "epoll"]', ""), "`claim X1.order` names 'epoll'"),
        (claim(COST.replace("10", "30") + ORDER, ""), "the claim X1 is about a cell"),
        (claim(COST + ORDER, "") * 2, "the claim X1 appears twice"),
    ],
)
def test_a_file_of_claims_that_is_none_is_refused_with_its_name(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "a.toml").write_text(text)
    study = tmp_path / "mine.toml"
    study.write_text(IN_A_FILE)
    with pytest.raises(StudyError) as refused:
        load_study(study, DESIGNS)
    assert f"{study}: a.toml: " in str(refused.value)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_claims_that_is_not_there_is_told_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"^`sources\.A\.claims`: cannot read .*a\.toml: No such"):
        parse_study(IN_A_FILE, DESIGNS, tmp_path)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("[sources.A]\ncolour = 1\n", "unknown key `sources.A.colour`"),
        ('[sources.A]\nmetric = "beauty"\n', "must be one of"),
        ("sources = 3\n", r"`sources` must hold named tables; write \[sources\.NAME\]"),
        ("[sources]\nA = 3\n", "must be a table"),
    ],
)
def test_a_source_that_is_none_is_refused(source: str, words: str) -> None:
    text = source + CELLS if source.startswith("sources") else CELLS + source
    with pytest.raises(StudyError, match=words):
        parse_study(text, DESIGNS)


def test_every_metric_of_a_claim_is_measured_in_both_scopes() -> None:
    for name in METRIC_SIDES:
        for scope in (WINDOW, PROCESS):
            found = measure(name, scope)
            assert set(METRIC_SIDES[name]) <= set(found.metric.sides), name


def test_the_metrics_that_need_no_counted_trial_are_known() -> None:
    """As they are measured in a window."""
    for name in METRIC_SIDES:
        assert is_timed(name) == (measure(name, WINDOW).metric.kind == TIMED), name


@pytest.mark.parametrize(
    ("race", "words"),
    [
        ("blocks = 6\ncounted_blocks = 6", ""),
        ("blocks = 5\ncounted_blocks = 6", "needs 6: the standings have 5, the claim X1 has 5"),
        ("blocks = 6\ncounted_blocks = 2", "needs 6: the claim X2 has 2"),
    ],
)
def test_a_study_says_which_verdicts_its_blocks_cannot_carry(race: str, words: str) -> None:
    counted = claim('connections = 10\nmetric = "page_faults"\n' + ORDER, "").replace("X1", "X2")
    begun = claim(COST + ORDER).replace("[[cells]]", f"[race]\n{race}\n[[cells]]", 1)
    study = parse_study(begun + counted, DESIGNS)
    note = too_few_note(study)
    assert note.endswith(words)
    assert bool(note) == bool(words)


def test_the_published_claims_are_of_every_form() -> None:
    study = shipped("reports")
    found = {claim.id: claim for claim in study.claims}
    kinds = {said.kind for claim in study.claims for said in claim.statements}
    assert kinds == set(KINDS) - {"shape"} | {*SHAPES}
    labels = {name: [asked.label for asked in comparisons(claim)] for name, claim in found.items()}
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
