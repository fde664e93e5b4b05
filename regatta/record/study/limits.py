"""The values that a study may choose from, and the limits and defaults that options share."""

import re

LOADS = ("burst", "closed", "open", "matched")
ARRIVALS = ("even", "poisson")
SCOPES = ("window", "process")
ENGINES = ("thread", "fork", "epoll")
DIALECTS = ("line", "http")
HTTP, HTTPS, *HTTP2 = FOUND = ("http", "https", "h2", "h2c")
"""What the look before a race finds out by itself."""
GRPC, WEBSOCKET = ("grpc", "grpcs"), ("ws", "wss")
SPOKEN = FOUND + GRPC + WEBSOCKET
MAX_STREAMS = 1_000
MAX_EVENTS = 1_000_000
AUTO, NETNS, LOOPBACK, CONTAINERS, HOSTS = PLACEMENTS = (
    *("auto", "netns", "loopback", "containers", "hosts"),
)
BRIDGE, HOST, VETH = NETWORKS = ("bridge", "host", "veth")
CONTAINER_ENGINES = ("podman", "docker")
OWN_SIDE, UNSTEERED = STEERINGS = ("own-side", "none")

MAX_CONNECTIONS = 65_536
MAX_CPUS = 1024
MAX_REQUESTS = 10_000_000
MAX_RATE_PER_S = 10_000_000
MAX_WORKERS = 4_096
MAX_BLOCKS = 10_000
MAX_SITTINGS = 100
MAX_CELLS = 10_000
MAX_CLAIMS = 1_000
MAX_CPU = 65_535
MAX_CLIENTS = 64
MAX_SEED = 2**63 - 1
MAX_WARMUP_LIMIT_S = 3_600.0
START_SKEW_LIMIT_MS = 1.0
"""Clients that start further apart make a different load: the trial is repeated."""

DEFAULT_WARMUP_LIMIT_S = 30.0
DEFAULT_DISTURBANCE_LIMIT_PERCENT = 10.0
DEFAULT_P99_LIMIT_MS = 50.0

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NAME_NEEDED = "at most 64 letters, digits, `-`, `_` and `.`"
PATH_PATTERN = re.compile(r"/[!-~]{0,1023}")
REQUEST_PATTERN = re.compile(r"[ -~]{1,1024}")
RAW_PATTERN = re.compile(r"(?:[ -\[\]-~]|\\[rnt\\]|\\x[0-9A-Fa-f]{2}){1,256}")
UNTIL_PATTERN = re.compile(r"[ -~]{1,256}")

WORK_NEEDED = (
    "one of scan, classic, snapshot, wait=TIME, spin=TIME, scan+spin=TIME, classic+spin=TIME; "
    "TIME is 1us to 60s, such as 50us or 5ms"
)
WORK_PATTERN = re.compile(r"(?:wait|spin|scan\+spin|classic\+spin)=(\d{1,8})(us|ms|s)")
US_PER_UNIT = {"us": 1, "ms": 1_000, "s": 1_000_000}


def is_work(value: object) -> bool:
    """Whether the server accepts this work."""
    if value in ("scan", "classic", "snapshot"):
        return True
    match = WORK_PATTERN.fullmatch(value) if isinstance(value, str) else None
    return match is not None and 1 <= int(match[1]) * US_PER_UNIT[match[2]] <= 60_000_000


def scans_each_request(work: str) -> bool:
    """Whether the work reads all processes for each request, so that no snapshot can be stale."""
    return work.startswith(("classic", "scan"))
