"""The designs as the server lists them, whether or not they can run on this machine."""

import functools

from regatta.study.design import Design
from tests.servers import table


@functools.cache
def every_design() -> tuple[Design, ...]:
    return tuple(Design(listed.name, "", pool=listed.pool) for listed in table())
