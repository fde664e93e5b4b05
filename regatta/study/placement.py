"""`[placement]`: where the two sides of a trial run."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from regatta.study import cpus, limits
from regatta.study.form import Form, Many, must, one_of, whole, wrong


def read_cpus(value: Any) -> Any:
    try:
        return cpus.cpus_of(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(cpus.NEEDED) from error


Cpus = Annotated[
    Many[Annotated[int, whole(0, limits.MAX_CPU)]],
    BeforeValidator(read_cpus),
    AfterValidator(lambda found: tuple(sorted(found))),
]


class PlacementForm(Form):
    """The keys of `[placement]`."""

    placement: Annotated[str, one_of(limits.PLACEMENTS)] = Field(default="auto", alias="kind")
    server_cpus: Cpus | None = None
    client_cpus: Cpus | None = None
    network: Annotated[str, one_of(limits.NETWORKS)] = limits.NETWORKS[0]
    engine: Annotated[str, one_of(limits.CONTAINER_ENGINES)] | None = None
    """None: whichever is there and works."""
    steering: Annotated[str, one_of(limits.STEERINGS)] = limits.STEERINGS[0]

    @model_validator(mode="after")
    def check_containers(self) -> Self:
        for key in ("network", "engine"):
            if self.has(key) and self.placement != limits.CONTAINERS:
                raise wrong(key, 'is for kind = "containers"; remove one')
        return self
