"""What the values of a study may be, where several tables have the same."""

from typing import Annotated

from regatta.study import limits
from regatta.study.form import Must, one_of, whole

Connections = Annotated[int, whole(1, limits.MAX_CONNECTIONS)]
BackgroundConnections = Annotated[int, whole(0, limits.MAX_CONNECTIONS)]
"""Connections beside those that are measured."""
Backlog = Annotated[int, whole(1, limits.MAX_BACKLOG)]
Workers = Annotated[int, whole(1, limits.MAX_WORKERS)]
Rate = Annotated[int, whole(1, limits.MAX_RATE_PER_S)]
Work = Annotated[str, Must(limits.WORK_NEEDED, limits.is_work)]
Load = Annotated[str, one_of(limits.LOADS)]
Engine = Annotated[str, one_of(limits.ENGINES)]
Dialect = Annotated[str, one_of(limits.DIALECTS)]
Name = Annotated[str, Must(limits.NAME_NEEDED, limits.NAME_PATTERN.fullmatch)]
