"""Small servers of other protocols, and of other methods than GET."""

import sys
from pathlib import Path

from regatta.measure.programs import Programs, discover
from regatta.verbs.servers.servers import Server

SERVER = """
import http.server, itertools, socketserver, sys
port, how = int(sys.argv[1]), sys.argv[2]
numbers = itertools.count()

class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for _ in self.rfile:
            reply = f"+{next(numbers) % 10}\\r\\n" if how == "varies" else "+PONG\\r\\n"
            self.wfile.write(reply.encode() * (2 if how == "garbage" else 1))
            if how == "closes":
                break

class Http(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(404 if self.path == "/gone" else 201 if body else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    do_POST = do_DELETE = do_GET
    def log_message(self, *_):
        pass

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

Server(("127.0.0.1", port), Http if how == "http" else Lines).serve_forever()
"""


def placed_here(folder: Path, how: str) -> tuple[list[Server], Programs]:
    """A server that does it, and the programs with the real client."""
    file = folder / "served.py"
    file.write_text(SERVER)
    command = (sys.executable, str(file), "{port}", how)
    return [Server(how, False, command, folder)], discover()
