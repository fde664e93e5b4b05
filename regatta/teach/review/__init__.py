"""Checks published figures: contradictions, and conclusions that they do not support."""

from regatta.teach.review.finding import CONTRADICTION, NOT_SHOWN, ReviewFinding
from regatta.teach.review.review import Review, print_review, review

__all__ = ["CONTRADICTION", "NOT_SHOWN", "ReviewFinding", "Review", "print_review", "review"]
