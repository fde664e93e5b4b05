"""Dask's end: it may go wrong inside, and the race has its results all the same."""

import asyncio
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
