"""Options of one subject as the fields of a dataclass, so that a verb takes one value for them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


@dataclass(frozen=True)
class OptionGroup:
    parameter: str
    kind: Any
    """The dataclass; its fields are options."""

    def taken_from(self, values: dict[str, Any]) -> Any:
        return self.kind(**{field.name: values.pop(field.name) for field in fields(self.kind)})


def with_option_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer sees it: each field of a dataclass is an option of its own."""
    hints = get_type_hints(verb, include_extras=True)
    signature = inspect.signature(verb)
    groups = [OptionGroup(name, hints[name]) for name in signature.parameters]
    groups = [group for group in groups if is_dataclass(group.kind)]
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(hints[name]):
            parameters += _options_of(hints[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=hints[name]))

    @wraps(verb)
    def called(**values: Any) -> None:
        made = {group.parameter: group.taken_from(values) for group in groups}
        verb(**values, **made)

    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
