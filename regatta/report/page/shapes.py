"""Vega's point shapes as SVG paths in a box from -1 to 1, for tables and legends."""

PATHS = {
    "circle": "M-.9 0a.9.9 0 1 0 1.8 0a.9.9 0 1 0-1.8 0Z",
    "square": "M-.8-.8H.8V.8H-.8Z",
    "diamond": "M0-1L.75 0L0 1L-.75 0Z",
    "cross": "M-.33-1H.33V-.33H1V.33H.33V1H-.33V.33H-1V-.33H-.33Z",
    "triangle-up": "M0-.9L.95 .75H-.95Z",
    "triangle-down": "M0 .9L.95-.75H-.95Z",
    "triangle-right": "M.9 0L-.75-.95V.95Z",
    "triangle-left": "M-.9 0L.75-.95V.95Z",
}
