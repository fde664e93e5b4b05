"""The pause between two sittings."""

import re

from regatta.errors import StudyError
from regatta.study.limits import MAX_PAUSE_S

SECONDS_PER_UNIT = {"s": 1, "m": 60, "min": 60, "h": 3_600}
PATTERN = re.compile(r"(\d{1,6})(s|min|m|h)")


def parse_pause(text: object, option: str) -> int:
    """Reads `90s`, `10min` or `1h`: seconds."""
    match = PATTERN.fullmatch(text) if isinstance(text, str) else None
    seconds = int(match[1]) * SECONDS_PER_UNIT[match[2]] if match else -1
    if not 0 <= seconds <= MAX_PAUSE_S:
        most_h = MAX_PAUSE_S // SECONDS_PER_UNIT["h"]
        raise StudyError(f"{option} is {text!r}; write 90s, 10min or 1h, at most {most_h}h")
    return seconds
