"""What the checks find in texts."""

from regatta.teach.review import CONTRADICTION, ReviewFinding
from regatta.teach.review.checks import findings as found_in
from regatta.teach.review.figures import Reading
from regatta.teach.review.review import read_lines


def reading(text: str, file: str = "a file") -> Reading:
    found = read_lines(file, text.splitlines())
    assert found is not None
    return found


def findings(*texts: str) -> list[ReviewFinding]:
    readings = [reading(text, f"file {index}") for index, text in enumerate(texts)]
    return list(found_in(readings))


def named(name: str, *texts: str) -> list[ReviewFinding]:
    return [found for found in findings(*texts) if found.check.name == name]


def contradictions(*texts: str) -> list[ReviewFinding]:
    return [found for found in findings(*texts) if found.check.kind == CONTRADICTION]
