"""One table of a study being read: pydantic checks it, a person gets one line.

A complaint names the key, what it holds and what it may be. Raised in a validator, `wrong` says of
the whole table, or of one of its keys, what no type can say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from regatta.errors import StudyError
from regatta.ledger.plain import named

MUST, WRONG, UNKNOWN = "must", "wrong", "unknown"
LIKE = 0.75
"""How alike two words are of which one may be meant by the other."""
T = TypeVar("T")


class Form(BaseModel):
    """The keys of a table; no others are allowed."""

    model_config = ConfigDict(strict=True, frozen=True, validate_by_name=True)

    @classmethod
    def known_keys(cls) -> list[str]:
        return [field.alias or name for name, field in cls.model_fields.items()]

    @model_validator(mode="before")
    @classmethod
    def know_every_key(cls, content: Any) -> Any:
        known = cls.known_keys()
        for key in content if isinstance(content, dict) else ():
            if key not in known:
                message = f"allowed here: {', '.join(known)}{perhaps(key, known)}"
                raise PydanticCustomError(UNKNOWN, message, {"key": key})
        return content

    def has(self, key: str) -> bool:
        """Whether the study says it; else the default stands."""
        return key in self.model_fields_set


@dataclass(frozen=True)
class Must:
    """What a value must be, in words, and the test of what its type does not say."""

    be: str
    test: Callable[[Any], object] | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        typed = core_schema.custom_error_schema(handler(source), MUST, custom_error_message=self.be)
        return core_schema.no_info_after_validator_function(self.check, typed)

    def check(self, value: Any) -> Any:
        if self.test is not None and not self.test(value):
            raise must(self.be)
        return value


def whole(low: int, high: int) -> Must:
    return Must(f"a whole number from {low} to {high}", lambda value: low <= value <= high)


def number(low: float, high: float) -> Must:
    return Must(f"a number from {low:g} to {high:g}", lambda value: low <= value <= high)


def seconds(high: float) -> Must:
    needed = f"a number of seconds above 0 and up to {high:g}"
    return Must(needed, lambda value: 0 < value <= high)


def one_of(allowed: Sequence[str]) -> BeforeValidator:
    return BeforeValidator(lambda value: choose(value, allowed))


def among(kind: str) -> BeforeValidator:
    """One of those that the context of this name lists: the designs, the study's contenders …"""

    def check(value: object, info: ValidationInfo) -> object:
        known = info.context[kind] if info.context else ()
        if not known:
            raise must(f"described; add [{kind}.NAME]")
        return choose(value, known)

    return BeforeValidator(check)


def choose(value: object, allowed: Sequence[str]) -> object:
    if value in allowed:
        return value
    raise must(f"one of {', '.join(allowed)}{perhaps(value, allowed)}")


def listed(value: Any) -> Any:
    """One value stands for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def once(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values:
        raise must("a list that is not empty")
    if len(set(values)) != len(values):
        raise must("a list without duplicates")
    return values


Many = Annotated[tuple[T, ...], BeforeValidator(listed), AfterValidator(once)]
Text = Annotated[
    str, Must("a text of printable characters", lambda text: text and text.isprintable())
]
Flag = Annotated[bool, Must("true or false")]

AnyForm = TypeVar("AnyForm", bound=Form)


def read(form: type[AnyForm], content: Any, *path: str | int, **context: Any) -> AnyForm:
    """The table at this path, checked; StudyError for its first mistake."""
    try:
        return form.model_validate(content, context=context)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise StudyError(complaint(first, (*path, *first["loc"]))) from error


def must(be: str) -> PydanticCustomError:
    return PydanticCustomError(MUST, be)


def wrong(key: str, message: str) -> PydanticCustomError:
    """Of a key of the table; of the table itself without one."""
    return PydanticCustomError(WRONG, message, {"key": key})


def perhaps(word: object, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, 1, LIKE) if isinstance(word, str) else []
    return f"; did you mean {close[0]}?" if close else ""


def complaint(error: ErrorDetails, loc: tuple[str | int, ...]) -> str:
    key, needed, value = error.get("ctx", {}).get("key"), error["msg"], error["input"]
    key_path = named((*loc, key) if key else loc)
    table = named(loc[:-1])
    match error["type"]:
        case "must" if isinstance(loc[-1], int):
            message = f"`{table}` holds {value!r}; it must be {needed}"
        case "must":
            message = f"`{key_path}` is {value!r}; it must be {needed}"
        case "wrong":
            message = f"`{key_path}` {needed}"
        case "unknown":
            message = f"unknown key `{key_path}`; {needed}"
        case "missing":
            message = f"{f'`{table}`' if table else 'the study'} has no `{loc[-1]}`; add it"
        case "list_type":
            message = f"`{key_path}` must be tables; write [[{key_path}]]"
        case "dict_type" if len(loc) == 1:
            message = f"`{key_path}` must be tables; write [{key_path}.NAME]"
        case _:
            message = f"`{key_path}` must be a table" + (
                "" if "[" in key_path else f"; write [{key_path}]"
            )
    return message
