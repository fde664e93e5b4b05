"""Decides which trials are repeated: disturbed ones, up to a limit."""

MAX_ATTEMPTS = 3
# So many heats show whether this machine is ever quiet.
FIRST_HEATS = 6
BUSY_SHARE = 0.5


class Repeats:
    """Decides for each heat (the trials that are compared) whether it is repeated.

    If most heats are disturbed, repeats would be too. Then none is repeated, so that a race on a
    busy machine takes its usual time; disturbed trials are still marked.
    """

    def __init__(self, heats: int = 0, disturbed: int = 0) -> None:
        self.heats = heats
        """Heats that have run at least once."""
        self.disturbed = disturbed
        """Those of them that were disturbed at the first attempt."""
        self.is_noted = False

    def wanted(self, disturbed: bool, attempt: int) -> bool:
        """Whether a heat is repeated after this attempt."""
        if attempt == 1:
            self.heats += 1
            self.disturbed += disturbed
        return disturbed and attempt < MAX_ATTEMPTS and not self.pointless()

    def pointless(self) -> bool:
        return self.heats >= FIRST_HEATS and self.disturbed > self.heats * BUSY_SHARE

    def note(self) -> str | None:
        """A note for the user, once, if repeating is pointless."""
        if self.is_noted or not self.pointless():
            return None
        self.is_noted = True
        return (
            f"other programs disturbed {self.disturbed} of {self.heats} groups of compared trials: "
            "they are marked and not repeated; stop those programs, then race again"
        )
