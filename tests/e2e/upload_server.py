"""Sends bodies and takes them: GET /HOW/BYTES, HOW of `length`, `chunked` and `gzip`; POST answers
with how the body came, its length and its CRC-32. It prints the paths and answers.
"""

import gzip
import sys
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = 70_001


def content(length: int) -> bytes:
    """Of all bytes, without a period that is a power of two."""
    return (bytes(range(251)) * (length // 251 + 1))[:length]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def reply(self, body: bytes, how: str = "length") -> None:
        self.send_response(200)
        if how == "gzip":
            body = gzip.compress(body, 1, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        if how == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if how != "chunked":
            self.wfile.write(body)
            return
        for at in range(0, len(body), PIECE):
            piece = body[at : at + PIECE]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        _, how, length = self.path.split("/")
        takes_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        self.reply(content(int(length)), how if how != "gzip" or takes_gzip else "length")

    def do_POST(self) -> None:
        how = "chunked" if self.headers["Transfer-Encoding"] == "chunked" else "length"
        assert (self.headers["Content-Length"] is None) == (how == "chunked")
        length, crc = 0, 0
        for piece in self.chunks() if how == "chunked" else [int(self.headers["Content-Length"])]:
            body = self.rfile.read(piece)
            length, crc = length + len(body), zlib.crc32(body, crc)
        said = f"{how} {length} {crc:08x}"
        print(said, flush=True)
        self.reply(said.encode())

    def chunks(self):  # type: ignore[no-untyped-def]
        while size := int(self.rfile.readline(), 16):
            yield size
            self.rfile.readline()
        self.rfile.readline()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        print(f"port {server.server_port}", flush=True)
        server.serve_forever()
