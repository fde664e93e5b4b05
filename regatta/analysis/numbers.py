"""How a number is written of whose interval nothing is known."""


def digits(value: float, count: int = 3) -> str:
    """So many that count; thousands are whole."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{count}g}"
