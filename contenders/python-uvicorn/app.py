"""An ASGI application; uvicorn runs it on uvloop, with httptools as its parser."""

import asyncio

WAIT_S = 0.005
TEXT, JSON = b"Hello, World!", b'{"message":"Hello, World!"}'
PLAIN = (200, b"text/plain", TEXT)
PAGES = {
    "/": PLAIN,
    "/plaintext": PLAIN,
    "/wait": PLAIN,
    "/json": (200, b"application/json", JSON),
}
NO_PAGE = (404, b"text/plain", b"no such page")


def start(status, kind, body):
    length = b"%d" % len(body)
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [(b"content-type", kind), (b"content-length", length)],
    }


async def app(scope, _receive, send):
    path = scope["path"]
    if path == "/wait":
        await asyncio.sleep(WAIT_S)
    page = PAGES.get(path, NO_PAGE)
    await send(start(*page))
    await send({"type": "http.response.body", "body": page[2]})
