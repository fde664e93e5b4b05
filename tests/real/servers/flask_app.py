"""Flask, for gunicorn. With $PGHOST, the items come from that PostgreSQL, a connection a thread."""

import json
import os
import threading
from typing import Any

import psycopg
from flask import Flask, Response
from page import page

app = Flask(__name__)
local = threading.local()
QUERY = """
SELECT json_build_object('items', json_agg(json_build_object('id', id, 'name', 'n' || id)))
FROM generate_series(0, 19) AS id
"""


def stored() -> bytes:
    if not hasattr(local, "connection"):
        local.connection = psycopg.connect(user="postgres", autocommit=True)
    row: Any = local.connection.execute(QUERY).fetchone()
    return json.dumps(row[0], separators=(",", ":")).encode()


@app.get("/")
def root() -> Response:
    body = stored() if "PGHOST" in os.environ else page()
    return Response(body, mimetype="application/json")
