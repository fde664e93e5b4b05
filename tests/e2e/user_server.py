"""A server as a user might write it, with the faults of users' servers: PORT [HOW [MORE]].

waits MS       every answer comes so much later; others are answered meanwhile
sometimes MS   the same for one request in forty: p99
blocks MS      nobody else is answered meanwhile: what it holds
"""

import asyncio
import os
import sys
import time

DIES_AFTER = 20_000
SPIN_S = 0.0004
ONE_IN = 40
served = 0


def burn(how: str) -> None:
    """CPU time that the slower one takes for each request."""
    end_s = time.thread_time() + SPIN_S
    while how == "slow" and time.thread_time() < end_s:
        pass


def answer(how: str) -> bytes:
    body = f"answer {served}" if how == "varies" else "answer"
    body = "Traceback (most recent call last)" if how == "broken" else body
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, how: str, more: str
) -> None:
    global served  # noqa: PLW0603  (one process, one count)
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            served += 1
            if how == "dies" and served > DIES_AFTER:
                print(f"out of memory after {served - 1} requests", file=sys.stderr, flush=True)
                os._exit(3)
            burn(how)
            if how == "waits" or (how == "sometimes" and served % ONE_IN == 0):
                await asyncio.sleep(float(more) / 1000)
            elif how == "blocks":
                time.sleep(float(more) / 1000)  # noqa: ASYNC251  (that is the fault)
            writer.write(answer(how))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(host: str, port: int, how: str, more: str) -> None:
    server = await asyncio.start_server(lambda r, w: serve(r, w, how, more), host, port)
    await server.serve_forever()


def begin(port: int, how: str, more: str = "") -> None:
    if how == "throws":
        raise RuntimeError("no database at db.example:5432")
    if how in ("elsewhere", "taken"):
        port = int(more)
    host = "127.0.0.1" if how == "confined" else "0.0.0.0"
    asyncio.run(main(host, port, how, more))


if __name__ == "__main__":
    begin(int(sys.argv[1]), *(sys.argv[2:] or ["well"]))
