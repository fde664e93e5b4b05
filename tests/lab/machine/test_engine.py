"""Dask as a race's hosts need it: what goes wrong inside it costs the race nothing."""

import asyncio
import time
from typing import Any

import pytest

from regatta.machine.hosts.engine import Engine


def test_what_dask_cancels_as_it_ends_is_nobodys_error(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    close = engine.client._close

    async def cancelled(**named: Any) -> None:
        await close(**named)
        raise asyncio.CancelledError

    monkeypatch.setattr(engine.client, "_close", cancelled)
    engine.close()
    assert engine.client.status == "closed"
    assert engine.cluster.status.name == "closed"


def test_who_looks_often_loses_no_answer() -> None:
    """A look that ends while an answer is fetched once left all later ones without theirs."""
    engine = Engine()
    try:
        engine.cluster.scale(1)
        engine.client.wait_for_workers(1, timeout=60)
        (worker,) = engine.client.scheduler_info()["workers"]
        for number in range(240):
            future = engine.submit(worker, answer_soon, number, actor=False)
            while not engine.has_come(future, 0.0005 * (number % 12 + 1)):
                pass
            assert future.result(timeout=20) == number
    finally:
        engine.close()


def answer_soon(number: int) -> int:
    time.sleep(0.0005)
    return number
