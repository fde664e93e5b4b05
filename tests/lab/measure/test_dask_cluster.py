"""Dask as a race's hosts need it: what goes wrong inside it costs the race nothing."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psutil
import pytest
from distributed import Client, LocalCluster, Security
from tornado.ioloop import PeriodicCallback

from regatta.measure.places.hosts.cluster_host import UserCluster
from regatta.measure.places.hosts.ssh_host import DaskCluster


@pytest.fixture
def engine() -> Iterator[DaskCluster]:
    with closing(DaskCluster()) as made:
        yield made


def test_tasks_that_dask_cancels_at_its_end_are_no_error(
    engine: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = engine.client._close

    async def cancelled(**named: Any) -> None:
        await close(**named)
        raise asyncio.CancelledError

    monkeypatch.setattr(engine.client, "_close", cancelled)
    engine.close()
    assert engine.client.status == "closed"
    assert engine.cluster.status.name == "closed"


def test_frequent_polling_loses_no_result(engine: DaskCluster) -> None:
    """A look that ends while an answer is fetched once left all later ones without theirs."""
    engine.cluster.scale(1)
    engine.client.wait_for_workers(1, timeout=60)
    (worker,) = engine.client.sync(engine.client.scheduler.identity, n_workers=-1)["workers"]
    for number in range(240):
        future = engine.submit(worker, answer_soon, number, actor=False)
        while not engine.is_done(future, 0.0005 * (number % 12 + 1)):
            pass
        assert future.result(timeout=20) == number


def test_a_users_workers_are_found_while_dask_refreshes_its_own_list() -> None:
    """Which has none of them. Dask does it every two seconds, here every millisecond."""
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        engine = UserCluster(cluster.scheduler_address)
        refresh = PeriodicCallback(engine.client._update_scheduler_info, 1)
        try:
            engine.client.loop.add_callback(refresh.start)
            assert [len(engine.workers()) for _ in range(300)] == [1] * 300
        finally:
            engine.client.loop.add_callback(refresh.stop)
            engine.close()


def test_only_this_race_can_use_the_engine(engine: DaskCluster) -> None:
    sockets = psutil.Process(os.getpid()).net_connections("tcp")
    listening = {at.laddr.ip for at in sockets if at.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    address = engine.cluster.scheduler_address
    with pytest.raises(OSError, match=r"(?i)timed out|certificate|ssl|tls|closed"):
        Client(address, security=Security.temporary(), timeout=2)


def test_no_task_is_moved_or_repeated(engine: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = engine.cluster.scheduler
    assert scheduler.allowed_failures == 0
    assert "stealing" not in scheduler.extensions
    asked: dict[str, Any] = {}
    monkeypatch.setattr(engine.client, "submit", lambda *_, **named: asked.update(named))
    engine.submit("tls://127.0.0.1:1", answer_soon, 1, actor=False)
    assert asked["workers"] == ["tls://127.0.0.1:1"]
    assert (asked["retries"], asked["allow_other_workers"]) == (0, False)


def answer_soon(number: int) -> int:
    time.sleep(0.0005)
    return number
