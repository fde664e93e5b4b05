"""How computed amounts are written."""

from regatta.analysis.numbers import digits


def milliseconds(seconds: float) -> str:
    return f"{digits(seconds * 1e3, 4)} ms"


def count(value: float) -> str:
    """`746.3 million`; small ones whole."""
    return f"{digits(value / 1e6, 4)} million" if abs(value) >= 1e6 else f"{value:,.0f}"


def share(part: float, whole: float) -> str:
    """`0.8 %`."""
    return f"{digits(part / whole * 100, 2)} %"
