"""What the checks find in texts."""

from regatta.review import CONTRADICTION, Finding
from regatta.review.checks import findings as found_in
from regatta.review.figures import Reading
from regatta.review.reading.files import read_lines


def reading(text: str, file: str = "a file") -> Reading:
    found = read_lines(file, text.splitlines())
    assert found is not None
    return found


def findings(*texts: str) -> list[Finding]:
    readings = [reading(text, f"file {index}") for index, text in enumerate(texts)]
    return list(found_in(readings))


def named(name: str, *texts: str) -> list[Finding]:
    return [found for found in findings(*texts) if found.check.name == name]


def contradictions(*texts: str) -> list[Finding]:
    return [found for found in findings(*texts) if found.check.kind == CONTRADICTION]
