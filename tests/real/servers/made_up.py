"""Servers with a known curve of CPU per request.

usage: made_up.py CURVE PORT

steady     always 50 us, and what asyncio costs
cache      200 us more for each of 20,000 keys that is asked for the first time, keys at random
step       200 us more for the first 20,000 requests
jit        150 us more for the first 4,000 requests, 50 us more for 8,000, then 20 us less
leak       0.5 ns more with every request, for ever
slow-leak  0.1 ns more with every request, for ever
"""

import asyncio
import random
import sys
import time
from collections.abc import Iterator

BASE_S, MORE_S, KEYS = 50e-6, 200e-6, 20_000
BODY = b"x" * 450
JIT = ((4_000, 150e-6), (12_000, 50e-6), (float("inf"), -20e-6))
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


def costs(curve: str) -> Iterator[float]:
    """Seconds of computing of one request after the other."""
    chance, seen, asked = random.Random(1), set[int](), 0
    growth_s = {"leak": 0.5e-9, "slow-leak": 0.1e-9}.get(curve, 0.0)
    while True:
        cost_s = BASE_S + growth_s * asked
        key = chance.randrange(KEYS) if curve == "cache" else asked
        if curve in ("cache", "step") and key not in seen and len(seen) < KEYS:
            seen.add(key)
            cost_s += MORE_S
        if curve == "jit":
            cost_s += next(more_s for until, more_s in JIT if asked < until)
        asked += 1
        yield cost_s


class Connection(asyncio.Protocol):
    cost_s: Iterator[float]

    def __init__(self) -> None:
        self.text = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self.text = (self.text + data).split(b"\r\n\r\n")
        for _ in requests:
            end_s = time.thread_time() + next(self.cost_s)
            while time.thread_time() < end_s:
                pass
            self.transport.write(REPLY)


async def serve(curve: str, port: int) -> None:
    Connection.cost_s = costs(curve)
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
