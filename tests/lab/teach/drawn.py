"""What is drawn at random for the tests of a review."""

from hypothesis import strategies as st

from tests.lab.teach.printed import LOCALES

locales = st.sampled_from(sorted(LOCALES)).map(LOCALES.__getitem__)


@st.composite
def counted(draw: st.DrawFn) -> dict[str, float]:
    """What one run of any program counted."""
    cycles = draw(st.integers(1_000_000, 10**12))
    task_s = cycles / draw(st.floats(0.5, 6)) / 1e9
    instructions = int(cycles * draw(st.floats(0.1, 5)))
    branches = int(instructions * draw(st.floats(0.02, 0.4)))
    references = draw(st.integers(1, cycles))
    return {
        "task_clock_ms": task_s * 1e3,
        "elapsed_s": task_s * draw(st.floats(0.25, 1000)),
        "context_switches": draw(st.integers(0, 10**6)),
        "page_faults": draw(st.integers(0, 10**6)),
        "cycles": cycles,
        "instructions": instructions,
        "branches": branches,
        "branch_misses": int(branches * draw(st.floats(0, 0.2))),
        "cache_references": references,
        "cache_misses": draw(st.integers(0, references)),
        "stalled_cycles_backend": draw(st.integers(0, cycles)),
    }
