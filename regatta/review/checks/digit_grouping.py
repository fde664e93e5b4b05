"""Digits grouped by lakh and crore, which are easily misread as billions."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import count
from regatta.review.checks.record_groups import by_file
from regatta.review.figures import Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.numbers import is_indian

INDIAN = Check(
    "grouping",
    NOT_SHOWN,
    "digits in groups of two",
    "run perf with LC_ALL=C, or write the number without commas.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for found in by_file(readings):
        those = [
            (record, one)
            for whole in found
            for record in whole.printed
            for one in record.figures.values()
            if is_indian(one.text)
        ]
        if those:
            record, figure = max(those, key=lambda one: one[1].value)
            says = f"{figure.words} is {figure.value:,.0f}: {count(figure.value)}, "
            says += "grouped by lakh and crore."
            says += and_others(len(those) - 1, "number")
            yield INDIAN.found(record, says, line=figure.line, computed=figure.value)
