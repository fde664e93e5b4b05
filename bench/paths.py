"""Paths of the bench's programs and of nginx's configuration."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "bench"
NGINX_CONF = HERE.parent / "contenders" / "nginx" / "nginx.conf"
