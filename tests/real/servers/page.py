"""What all servers here answer, made anew for each request."""

import json


def page() -> bytes:
    items = [{"id": number, "name": f"n{number}"} for number in range(20)]
    return json.dumps({"items": items}, separators=(",", ":")).encode()
