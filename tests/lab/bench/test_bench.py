"""The bench's own arithmetic: what clients print, who is the best, what a goal means."""

import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from bench import http_clients, loads, pauses, rows, side_by_side
from bench.comparisons import comparisons
from bench.loads import SERVER_CPU, Wrk
from bench.rows import Best, Row, ServerTrial, Target, Turns, present
from bench.servers import Load, Nginx, Ours, Server, Serving, Twin
from bench.side_by_side import Measurements
from bench.testbed import Figures, Testbed
from regatta.errors import RegattaError, TrialError
from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.joint import PairedMean

WRK = """Running 1s test @ http://198.18.0.1:45131/top?n=2
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   496.31us  212.09us   6.73ms   92.03%
    Req/Sec   101.09k     4.04k  107.81k    72.73%
  110511 requests in 1.10s, 24.66MB read
Requests/sec: 100462.42
Transfer/sec:     22.42MB
"""
REDIS_BENCHMARK = (
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",'
    '"p99_latency_ms","max_latency_ms"\n'
    '"get regatta","53571.43","0.513","0.152","0.471","0.919","1.351","3.087"\n'
)
OURS, PEER = ServerTrial(Ours("select"), Wrk(50)), ServerTrial(Twin("epoll"), Wrk(50))


H2LOAD = """finished in 1.01s, 7157.00 req/s, 2.41MB/s
requests: 7157 total, 7207 started, 7157 done, 7157 succeeded, 0 failed, 0 errored, 0 timeout
"""
OHA = """{"summary": {"requestsPerSec": 51234.5}, "statusCodeDistribution": {"200": 51200},
 "latencyPercentiles": {"p99": 0.095}, "errorDistribution": {"aborted due to deadline": 50}}"""


def of_redis(printed: str) -> loads.Served:
    return loads.read_redis_benchmark(printed, 60_000)


GET_CLIENT = '{"requests": 300, "seconds": 1.500000}\n'
REGATTA_CLIENT = '{"requests": 10, "answered": 10, "throughput_per_s": 5.0}'
Reader = Callable[[str], loads.Served]


@pytest.mark.parametrize(
    ("reader", "printed", "served"),
    [
        (loads.read_wrk, WRK, (110511, 100462.42)),
        (http_clients.read_h2load, H2LOAD, (7157, 7157.0)),
        (http_clients.read_oha, OHA, (51200, 51234.5)),
        (of_redis, REDIS_BENCHMARK, (60_000, 53571.43)),
        (loads.read_get_client, GET_CLIENT, (300, 200.0)),
        (loads.read_regatta_client, REGATTA_CLIENT, (10, 5.0)),
    ],
)
def test_what_a_client_prints_is_read_and_nothing_else(
    reader: Reader, printed: str, served: tuple[int, float]
) -> None:
    assert reader(printed) == loads.Served(*served)
    with pytest.raises(TrialError):
        reader("the moon is in the way")


@pytest.mark.parametrize(
    ("reader", "printed", "trouble"),
    [
        (loads.read_wrk, f"  Socket errors: connect 0, read 3\n{WRK}", "Socket errors"),
        (loads.read_wrk, f"  Non-2xx or 3xx responses: 9\n{WRK}", "Non-2xx"),
        (http_clients.read_h2load, H2LOAD.replace("0 failed", "3 failed"), "3 requests failed"),
        (http_clients.read_oha, OHA.replace('"200"', '"404"'), "404"),
        (http_clients.read_oha, OHA.replace("aborted due to deadline", "reset"), "reset"),
        (loads.read_regatta_client, REGATTA_CLIENT.replace('d": 10', 'd": 8'), "2 of 10"),
    ],
)
def test_failed_requests_are_no_measurement(reader: Reader, printed: str, trouble: str) -> None:
    with pytest.raises(TrialError, match=trouble):
        reader(printed)


def test_the_true_p99_is_that_of_evenly_spread_requests() -> None:
    """Compared with ten thousand requests: stopped for 100 ms of every 500 ms."""
    starts = [period * 0.5 for period in range(10)]
    found = pauses.Pauses(starts, [start + 0.1 for start in starts])
    waits = [max(0.0, 0.1 - (request / 2_000) % 0.5) for request in range(10_000)]
    for share in pauses.SHARES:
        true_s = pytest.approx(np.quantile(waits, share), abs=0.001)
        assert found.true_s(share) == true_s


WRK_S = "     50%  150.00us\n     90%    {}\n     99%    {}\n"


@pytest.mark.parametrize(
    ("read", "printed", "seconds"),
    [
        (pauses.wrk_s, WRK_S.format("873.00us", "95.20ms"), [873e-6, 0.0952]),
        (pauses.wrk_s, WRK_S.format("1.20s", "1.50s"), [1.2, 1.5]),
        (pauses.hey_s, "  90%% in 0.0512 secs\n  99%% in 0.0950 secs\n", [0.0512, 0.095]),
        (pauses.ab_s, "Percentage served,Time in ms\n90,0.217\n99,1.900\n", [217e-6, 0.0019]),
        (pauses.vegeta_s, '{"latencies": {"90th": 51200000, "99th": 95e6}}', [0.0512, 0.095]),
        (
            pauses.h2load_s,
            "".join(f"1700000000000000\t200\t{time}\n" for time in range(1_000)),
            [900e-6, 990e-6],
        ),
    ],
)
def test_percentiles_are_read_as_each_client_prints_them(
    read: pauses.Reader, printed: str, seconds: list[float]
) -> None:
    assert read(printed) == pytest.approx(seconds)


def row(
    ours: ServerTrial | Best = OURS,
    peer: ServerTrial | None = PEER,
    goal: Target | None = None,
    most_blocks: int | None = None,
) -> Row:
    return Row("a row", "a group", SERVER_CPU, ours, peer, goal, most_blocks)


def measured(**values: list[float]) -> Measurements:
    trials = {"ours": OURS, "peer": PEER}
    return Measurements(
        {
            trials[side]: {block: {SERVER_CPU: value} for block, value in enumerate(costs)}
            for side, costs in values.items()
        }
    )


def test_the_ratio_is_taken_within_blocks() -> None:
    # The machine drifts by a factor of eight; ours always costs half.
    found = measured(ours=[1, 2, 4, 4, 8], peer=[2, 4, 8, 8, 16])
    outcome = side_by_side.estimate(row(), found)
    assert (outcome.value, outcome.low, outcome.high) == pytest.approx((0.5, 0.5, 0.5))


def test_a_ratio_is_as_sure_as_sign_flips_are_and_a_value_as_blocks_that_may_be_alike() -> None:
    """Ten blocks, one of them far out, as real ones are."""
    ours = [1.0, 1.01, 0.98, 1.02, 0.97, 1.03, 0.99, 1.0, 1.02, 1.6]
    paired = side_by_side.estimate(row(), measured(ours=ours, peer=[2.0] * 10))
    by_flips = PairedMean(np.log(np.array(ours) / 2.0)).interval()
    assert (paired.low, paired.high) == pytest.approx((np.exp(by_flips.low), np.exp(by_flips.high)))
    alone = side_by_side.estimate(row(peer=None), measured(ours=ours))
    mean, reach = np.log(ours).mean(), reach_of(np.log(ours))
    assert (alone.low, alone.high) == pytest.approx(tuple(np.exp([mean - reach, mean + reach])))


def test_a_block_in_which_one_side_failed_does_not_count() -> None:
    found = measured(ours=[1, 1, 9], peer=[2, 2])
    outcome = side_by_side.estimate(row(), found)
    assert outcome.ours == [1, 1]
    assert outcome.value == pytest.approx(0.5)
    alone = measured(ours=[1], peer=[2])
    assert side_by_side.estimate(row(), alone).value is None, "one block is no estimate"


def test_a_row_without_a_peer_is_a_value_and_may_be_zero() -> None:
    assert side_by_side.estimate(row(peer=None), measured(ours=[0, 0, 3])).value == 1
    assert side_by_side.estimate(row(peer=None), measured(ours=[1, 10, 100])).value == (
        pytest.approx(10)
    )


@pytest.mark.parametrize(
    ("goal", "ours", "verdict"),
    [
        (Target(0.8), [1.0, 1.01, 0.99, 1.0], "met"),
        (Target(0.4), [1.0, 1.01, 0.99, 1.0], "missed"),
        (Target(0.8), [1.0, 2.0, 1.5, 2.2], "undecided"),
        (Target(0.4, at_least=True), [1.0, 1.01, 0.99, 1.0], "met"),
        (Target(0.8, at_least=True), [1.0, 1.01, 0.99, 1.0], "missed"),
        (Target(0.55, down_to=0.45), [1.0, 1.01, 0.99, 1.0], "met"),
        (Target(0.45, down_to=0.35), [1.0, 1.01, 0.99, 1.0], "missed"),
        (Target(0.65, down_to=0.55), [1.0, 1.01, 0.99, 1.0], "missed"),
        (Target(0.55, down_to=0.45), [0.5, 2.0, 0.4, 1.9], "undecided"),
        (None, [1.0, 1.01, 0.99, 1.0], None),
    ],
)
def test_a_verdict_needs_the_whole_interval(
    goal: Target | None, ours: list[float], verdict: str | None
) -> None:
    found = measured(ours=ours, peer=[2.0] * len(ours))
    assert side_by_side.estimate(row(goal=goal), found).verdict == verdict


def test_a_goal_with_two_ends_is_shown_with_both() -> None:
    assert str(Target(1.05, down_to=0.95)) == "0.95 to 1.05"


class OfTwoWorks(Load):
    """In place of the burst: what a request costs is known from the work."""

    name = "a burst"

    def run(self, _stand: Testbed, server: Server, _serving: Serving) -> Figures:
        assert isinstance(server, Ours)
        return {SERVER_CPU: {"classic": 900.0, "snapshot": 100.0}[server.work]}


def test_a_classic_scan_is_what_it_costs_beyond_a_snapshot_for_each_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pool of sixteen makes the scan longer, and no dearer."""
    monkeypatch.setattr(loads, "serving", lambda _stand, _server: nullcontext())
    monkeypatch.setattr(loads, "processes_read", lambda _stand, _started: 80)
    load = loads.BeyondSnapshot(OfTwoWorks())
    found = load.run(None, Ours("select", work="classic"), None)
    assert found == {loads.BEYOND: 10.0}


def test_a_block_holds_every_trial_once_and_in_random_order() -> None:
    """What takes long takes part in few blocks."""
    rare = ServerTrial(Nginx(), Wrk(50))
    compared = [row(), row(peer=None, most_blocks=1), row(ours=rare, peer=None, most_blocks=2)]
    plans = [side_by_side.plan(compared, 3, random.Random(seed)) for seed in range(20)]
    for planned in plans:
        assert len(planned) == 8
        for block in range(3):
            trials = {trial for of, trial in planned if of == block}
            assert trials == {OURS, PEER, *([rare] if block < 2 else [])}
    assert len({tuple(planned) for planned in plans}) > 10


@dataclass(frozen=True)
class RecordedLoad(Load):
    """A load that tells of each of its slices, each of which costs more than the last."""

    name = "a recorded load"
    what: str
    told: tuple[list[str], ...] = field(default=([],), compare=False)

    def run(self, _: Testbed, server: Server, __: Serving) -> Figures:
        self.told[0].append(f"{server.name} {self.what}")
        return {SERVER_CPU: float(len(self.told[0]))}


def test_servers_take_turns_and_what_goes_straight_up_costs_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rows, "serving", lambda *_: nullcontext())
    told: tuple[list[str]] = ([],)
    stay, go = RecordedLoad("stay", told), RecordedLoad("go", told)
    turns = Turns((Ours("a"), Twin("a")), (stay, go), turns=2)
    testbed = Testbed(None, tmp_path, b"")
    found = turns.run(testbed)
    first = ["a stay", "bare a stay", "a go", "bare a go"]
    assert told[0] == [*first, *reversed(first)]
    assert {figures[SERVER_CPU] for figures in found.values()} == {4.5}
    assert list(found) == turns.trials()


def test_rows_that_share_turns_are_measured_in_them_once_a_block() -> None:
    loads_ = (Wrk(1), Wrk(2))
    turns = Turns((Ours("select"), Twin("select")), loads_, turns=2)
    compared = [
        Row(
            "a row",
            "a group",
            SERVER_CPU,
            ServerTrial(Ours("select"), load),
            ServerTrial(Twin("select"), load),
            None,
            None,
            turns,
        )
        for load in loads_
    ]
    assert side_by_side.plan(compared, 2, random.Random(1)) == [(0, turns), (1, turns)]


def test_the_best_is_the_cheapest_of_the_screening() -> None:
    best = Best((Ours("epoll"), Ours("uring"), Ours("reactors")), Wrk(50), Wrk(9))
    epoll, uring, _ = best.screening()
    screened = Measurements({epoll: {0: {SERVER_CPU: 9.0}}, uring: {0: {SERVER_CPU: 8.0}}})
    (decided,) = side_by_side.decide([row(ours=best)], screened)
    assert decided.ours == ServerTrial(uring.server, Wrk(9))
    assert decided.name.endswith("uring")
    with pytest.raises(RegattaError, match="every screening failed"):
        side_by_side.decide([row(ours=best)], Measurements(failures=["no port"]))


def test_a_design_that_is_not_there_is_left_out() -> None:
    designs = {"select": None, "epoll": None, "uring": "no io_uring in this kernel"}
    assert present(row(), designs) == row()
    assert (
        present(row(ours=ServerTrial(Ours("uring"), Wrk(50))), designs)
        == "no io_uring in this kernel"
    )
    assert "no design poll" in str(present(row(ours=ServerTrial(Ours("poll"), Wrk(50))), designs))
    best = Best((Ours("epoll"), Ours("uring"), Ours("poll")), Wrk(50), Wrk(50))
    found = present(row(ours=best), designs)
    assert isinstance(found, rows.Row)
    assert isinstance(found.ours, Best)
    assert found.ours.servers == (Ours("epoll"),)


def test_rows_have_names_of_their_own_and_hold_every_design() -> None:
    names = [compared.name for compared in comparisons(["iterative", "newest"])]
    assert len(set(names)) == len(names)
    assert "classic beyond snapshot, newest / iterative" in names
    assert any(name.startswith("twins: newest,") for name in names)
