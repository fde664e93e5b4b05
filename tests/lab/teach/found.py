"""What is read from texts, what the checks find in them, and what is drawn at random."""

from pathlib import Path

from hypothesis import strategies as st

from regatta.teach.review import CONTRADICTION, ReviewFinding
from regatta.teach.review.checks import findings as found_in
from regatta.teach.review.figures import Reading, Record
from regatta.teach.review.review import read_lines
from tests.lab.teach.printed import LOCALES

FIXTURES = Path(__file__).parents[1] / "fixtures/review"


def reading(text: str, file: str = "a file") -> Reading:
    found = read_lines(file, text.splitlines())
    assert found is not None
    return found


def values(record: Record) -> dict[str, float]:
    return {name: figure.value for name, figure in record.figures.items()}


def findings(*texts: str) -> list[ReviewFinding]:
    readings = [reading(text, f"file {index}") for index, text in enumerate(texts)]
    return list(found_in(readings))


def checks(*texts: str) -> set[str]:
    return {found.check.name for found in findings(*texts)}


def named(name: str, *texts: str) -> list[ReviewFinding]:
    return [found for found in findings(*texts) if found.check.name == name]


def contradictions(*texts: str) -> list[ReviewFinding]:
    return [found for found in findings(*texts) if found.check.kind == CONTRADICTION]


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
