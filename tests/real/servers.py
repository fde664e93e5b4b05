"""The servers, and the pairs that are raced. All answer the same bytes to GET /.

Commands run in the folder that `build` fills."""

import shutil
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".tools" / "real"
CONNECTIONS = 10
GUNICORN = (
    ".venv/bin/gunicorn --bind 127.0.0.1:{port} --worker-class gthread --threads 10 "
    "--keep-alive 600 --no-control-socket flask_app:app"
)


@dataclass(frozen=True)
class Server:
    command: str
    needs: tuple[str, ...]
    """Programs on the PATH, or files that `build` makes."""

    def lacks(self) -> str | None:
        for need in self.needs:
            if shutil.which(need) is None and not (HOME / need).exists():
                return need
        return None


SERVERS = {
    "steady": Server("/usr/bin/python3 made_up.py steady {port}", ("made_up.py",)),
    "jit": Server("/usr/bin/python3 made_up.py jit {port}", ("made_up.py",)),
    "node": Server("node node.js {port}", ("node",)),
    "express": Server("node express.js {port}", ("node", "node_modules/express")),
    "fastify": Server("node fastify.js {port}", ("node", "node_modules/fastify")),
    "fastapi": Server(
        ".venv/bin/uvicorn --port {port} --no-access-log --log-level warning fastapi_app:app",
        (".venv/bin/uvicorn",),
    ),
    "flask": Server(GUNICORN, (".venv/bin/gunicorn",)),
    "flask-postgres": Server(
        f"./with_postgres cluster {GUNICORN}", (".venv/bin/gunicorn", "cluster/PG_VERSION")
    ),
    "java": Server("java -cp java-http Server {port}", ("java", "java-http/Server.class")),
    "javalin": Server(
        "java -cp javalin/target/classes:javalin/target/lib/* Server {port}",
        ("java", "javalin/target/lib"),
    ),
    "go": Server("go-bin/http {port}", ("go-bin/http",)),
    "fasthttp": Server("go-bin/fasthttp {port}", ("go-bin/fasthttp",)),
    "chi": Server("go-bin/chi {port}", ("go-bin/chi",)),
    "nginx": Server("./serve_nginx {port}", ("nginx", "pages/page.json")),
    "caddy": Server("env PORT={port} caddy run --config Caddyfile", ("caddy", "pages/page.json")),
    "puma": Server(
        "ruby --yjit -S puma -q -t 10:10 -b tcp://127.0.0.1:{port} app.ru", ("ruby", "puma")
    ),
    "php": Server(
        "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing "
        "loop.php {port}",
        ("php",),
    ),
}
PAIRS = (
    ("steady", "node"),
    ("steady", "jit"),
    ("go", "node"),
    ("fastify", "express"),
    ("fastapi", "flask"),
    ("java", "javalin"),
    ("go", "fasthttp"),
    ("go", "chi"),
    ("nginx", "caddy"),
    ("puma", "php"),
    ("flask", "flask-postgres"),
)
