"""Types of values that several tables of a study share."""

from typing import Annotated

from regatta.study import limits
from regatta.study.toml_table import Must, one_of, whole

Connections = Annotated[int, whole(1, limits.MAX_CONNECTIONS)]
BackgroundConnections = Annotated[int, whole(0, limits.MAX_CONNECTIONS)]
"""Connections in addition to the measured ones."""
Backlog = Annotated[int, whole(1, limits.MAX_BACKLOG)]
Workers = Annotated[int, whole(1, limits.MAX_WORKERS)]
Rate = Annotated[int, whole(1, limits.MAX_RATE_PER_S)]
Work = Annotated[str, Must(limits.WORK_NEEDED, limits.is_work)]
Load = Annotated[str, one_of(limits.LOADS)]
Engine = Annotated[str, one_of(limits.ENGINES)]
Dialect = Annotated[str, one_of(limits.DIALECTS)]
Name = Annotated[str, Must(limits.NAME_NEEDED, limits.NAME_PATTERN.fullmatch)]
