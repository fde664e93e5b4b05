"""Web servers in front of PostgreSQL, by libpq alone: `kept|anew PORT DB`. Each answers a row; one
keeps a connection to the database for each client, the other makes one for each request.
"""

import ctypes
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

pq = ctypes.CDLL("libpq.so.5")
for name in ("PQconnectdb", "PQexec"):
    getattr(pq, name).restype = ctypes.c_void_p
for name in ("PQgetvalue", "PQerrorMessage"):
    getattr(pq, name).restype = ctypes.c_char_p


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    database: ctypes.c_void_p | None = None

    def do_GET(self) -> None:
        how, _, port = sys.argv[1:]
        if self.database is None:
            where = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
            self.database = ctypes.c_void_p(pq.PQconnectdb(where.encode()))
        found = ctypes.c_void_p(pq.PQexec(self.database, b"SELECT name FROM item WHERE id = 7"))
        body = pq.PQgetvalue(found, 0, 0) or pq.PQerrorMessage(self.database)
        pq.PQclear(found)
        if how == "anew":
            self.finish_database()
        self.send_response(500 if b"ERROR" in body or b"FATAL" in body else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish_database(self) -> None:
        if self.database is not None:
            pq.PQfinish(self.database)
        self.database = None

    def finish(self) -> None:
        super().finish()
        self.finish_database()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a log costs CPU time."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
