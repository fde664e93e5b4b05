"""Where this folder's programs lie."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "bench"
