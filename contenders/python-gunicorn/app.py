"""A WSGI application; gunicorn serves it with threads."""

import time

WAIT_S = 0.005
TEXT, JSON = b"Hello, World!", b'{"message":"Hello, World!"}'
PLAIN = ("200 OK", "text/plain", TEXT)
PAGES = {
    "/": PLAIN,
    "/plaintext": PLAIN,
    "/wait": PLAIN,
    "/json": ("200 OK", "application/json", JSON),
}
NO_PAGE = ("404 Not Found", "text/plain", b"no such page")


def app(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/wait":
        time.sleep(WAIT_S)
    status, kind, body = PAGES.get(path, NO_PAGE)
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
