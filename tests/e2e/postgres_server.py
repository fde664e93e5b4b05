"""Web servers in front of PostgreSQL, by libpq alone: `once|each PORT DB`. Both answer the same
rows: one asks for them at once, the other for each.
"""

import ctypes
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROWS = 10
pq = ctypes.CDLL("libpq.so.5")
pq.PQconnectdb.restype = pq.PQexec.restype = ctypes.c_void_p
pq.PQgetvalue.restype = pq.PQerrorMessage.restype = ctypes.c_char_p
WHERE = "host=127.0.0.1 port={} user=postgres dbname=postgres".format(*sys.argv[3:])
pool: list[ctypes.c_void_p] = []
"""Connections to the database that no client uses."""
ASK = b"SELECT name FROM item WHERE id BETWEEN %d AND %d ORDER BY id"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def setup(self) -> None:
        super().setup()
        self.database = pool.pop() if pool else ctypes.c_void_p(pq.PQconnectdb(WHERE.encode()))

    def finish(self) -> None:
        super().finish()
        pool.append(self.database)

    def ask(self, first: int, last: int) -> list[bytes]:
        found = ctypes.c_void_p(pq.PQexec(self.database, ASK % (first, last)))
        names = [pq.PQgetvalue(found, row, 0) for row in range(pq.PQntuples(found))]
        pq.PQclear(found)
        return names

    def do_GET(self) -> None:
        if sys.argv[1] == "once":
            names = self.ask(1, ROWS)
        else:
            names = [name for row in range(1, ROWS + 1) for name in self.ask(row, row)]
        body = b"\n".join(names) or pq.PQerrorMessage(self.database)
        self.send_response(200 if names else 500)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a log costs CPU time."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
