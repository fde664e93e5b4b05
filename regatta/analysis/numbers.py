"""Formats numbers without an interval."""


def digits(value: float, count: int = 3) -> str:
    """With so many significant digits; from 1,000 on without decimals."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{count}g}"
