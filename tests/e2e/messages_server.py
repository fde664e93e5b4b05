"""A server of messages, which come back: `ws` by websockets, `grpc` by grpcio at /a.Echo/Turn.

Usage: messages_server.py KIND PORT [SPIN [CERTIFICATE KEY]]; SPIN: steps of work for each."""

import asyncio
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

KIND, PORT, *MORE = sys.argv[1:]
SPIN, *CERTIFICATE = [*MORE, "0"][: max(1, len(MORE))]


def turned(message: Any) -> Any:
    sum(range(int(SPIN)))
    return message


async def websocket() -> None:
    from websockets.asyncio.server import ServerConnection, serve  # noqa: PLC0415

    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(turned(message))

    context = None
    if CERTIFICATE:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*CERTIFICATE)
    settings: Any = {"max_size": None, "compression": None, "ssl": context}
    async with serve(echo, "127.0.0.1", int(PORT), **settings):
        await asyncio.get_running_loop().create_future()


def grpc() -> None:
    import grpc  # noqa: PLC0415

    method = grpc.unary_unary_rpc_method_handler(lambda message, _context: turned(message))
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.method_handlers_generic_handler("a.Echo", {"Turn": method})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"127.0.0.1:{PORT}")
    server.start()
    server.wait_for_termination()


if KIND == "ws":
    asyncio.run(websocket())
else:
    grpc()
