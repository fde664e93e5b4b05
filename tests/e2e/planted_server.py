"""A server that is as slow as it is told, in one respect: PORT HOW MS.

waits      every answer comes so much later; others are answered meanwhile
sometimes  the same for one request in forty: p99
blocks     nobody else is answered meanwhile: what it holds
"""

import asyncio
import sys
import time

ONE_IN = 40
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
served = 0


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, how: str, wait_s: float
) -> None:
    global served  # noqa: PLW0603  (one process, one count)
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            served += 1
            if how == "waits" or (how == "sometimes" and served % ONE_IN == 0):
                await asyncio.sleep(wait_s)
            elif how == "blocks":
                time.sleep(wait_s)  # noqa: ASYNC251  (that is the fault)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(port: int, how: str, wait_s: float) -> None:
    server = await asyncio.start_server(lambda r, w: serve(r, w, how, wait_s), "0.0.0.0", port)  # noqa: S104
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1000))
