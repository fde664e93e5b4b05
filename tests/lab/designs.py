"""The designs that the server lists, whether or not they can run here."""

import functools

from regatta.record.study.find import Design
from tests.servers import table


@functools.cache
def every_design() -> tuple[Design, ...]:
    return tuple(Design(listed.name, "", pool=listed.pool) for listed in table())
