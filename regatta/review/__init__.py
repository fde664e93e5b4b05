"""Checks published figures: contradictions, and conclusions that they do not support."""

from regatta.review.finding import CONTRADICTION, NOT_SHOWN, Finding
from regatta.review.review import Review, review
from regatta.review.show import print_review

__all__ = ["CONTRADICTION", "NOT_SHOWN", "Finding", "Review", "print_review", "review"]
