"""Where this folder's programs lie, and what it takes of others."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "bench"
NGINX_CONF = HERE.parent / "contenders" / "nginx" / "nginx.conf"
