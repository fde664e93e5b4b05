"""What a key of a study may be: each table is a pydantic model, a field for each of its keys.

All mistakes of a table are reported, each in one line that names the key, its value and the valid
values. Validators raise `must(...)` for an invalid value, and `wrong(key, ...)` for anything else
about a key or the whole table.
"""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import isclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, get_args

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

from regatta.errors import StudyError, named
from regatta.record.study import limits

MUST, WRONG, UNKNOWN, MISSING = "must", "wrong", "extra_forbidden", "missing"
LIKE = 0.75
"""Similarity from which a known word is suggested for an unknown one."""
MOST_SHOWN = 500
"""Characters of a value in an error."""
T = TypeVar("T")


class TomlTable(BaseModel):
    """Base of all tables; unknown keys are refused."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @classmethod
    def known_keys(cls) -> list[str]:
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def at(cls, path: Sequence[str | int]) -> "type[TomlTable]":
        """The model of the table at this path."""
        table: type[TomlTable] = cls
        for part in path:
            fields = dict(zip(table.known_keys(), table.model_fields.values(), strict=True))
            of_key = fields[part].annotation if part in fields else None
            types = [kind for kind in (of_key, *get_args(of_key)) if isclass(kind)]
            table = next((kind for kind in types if issubclass(kind, TomlTable)), table)
        return table

    def has(self, key: str) -> bool:
        """Whether the study sets the key."""
        return key in self.model_fields_set

    def mistakes(self) -> Iterator[tuple[str, str]]:
        """What is wrong though each key by itself is valid: the key, or "" for the table, and the
        words that follow it. Only the first is reported.
        """
        return iter(())

    @model_validator(mode="after")
    def check(self) -> Self:
        for mistake in self.mistakes():
            raise wrong(*mistake)
        return self


@dataclass(frozen=True)
class Must:
    """What a value must be, in words, and a test beyond its type."""

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
    """One of the names of this kind that the table is read with."""

    def check(value: object, info: ValidationInfo) -> object:
        known = list(info.context[kind] if info.context else ())
        if not known:
            raise must(f"defined; add [{kind}.NAME]")
        return choose(value, known)

    return BeforeValidator(check)


def choose(value: object, allowed: Sequence[str]) -> object:
    if value in allowed:
        return value
    raise must(f"one of {', '.join(allowed)}{suggestion(value, allowed)}")


def listed(value: Any) -> Any:
    """A single value means a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def once(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values:
        raise must("a list that is not empty")
    if len(set(values)) != len(values):
        raise must("a list without duplicates")
    return values


def must(be: str) -> PydanticCustomError:
    return PydanticCustomError(MUST, be)


def wrong(key: str, message: str) -> PydanticCustomError:
    """An error about a key, or with "" about the table itself."""
    return PydanticCustomError(WRONG, message, {"key": key})


Many = Annotated[tuple[T, ...], BeforeValidator(listed), AfterValidator(once)]
Text = Annotated[
    str, Must("printable text that is not empty", lambda text: text and text.isprintable())
]
Flag = Annotated[bool, Must("true or false")]
Connections = Annotated[int, whole(1, limits.MAX_CONNECTIONS)]
BackgroundConnections = Annotated[int, whole(0, limits.MAX_CONNECTIONS)]
"""Connections in addition to the measured ones."""
Backlog = Annotated[int, whole(1, 65_535)]
Workers = Annotated[int, whole(1, limits.MAX_WORKERS)]
Rate = Annotated[int, whole(1, limits.MAX_RATE_PER_S)]
Work = Annotated[str, Must(limits.WORK_NEEDED, limits.is_work)]
Load = Annotated[str, one_of(limits.LOADS)]
Engine = Annotated[str, one_of(limits.ENGINES)]
Dialect = Annotated[str, one_of(limits.DIALECTS)]
Name = Annotated[str, Must(limits.NAME_NEEDED, limits.NAME_PATTERN.fullmatch)]

AnyTable = TypeVar("AnyTable", bound=TomlTable)


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StudyError(f"cannot read {path}: {reason}; name another file") from error


def content_of(text: str, what: str) -> dict[str, Any]:
    """`what`: what the text is, for the error message."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{what} is not valid TOML: {error}") from error


def read(form: type[AnyTable], content: Any, *path: str | int, **context: Any) -> AnyTable:
    """Validates the table at this path; StudyError for all its errors."""
    try:
        return form.model_validate(content, context=context)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # Beside a misspelt key none is missing: it may be the same.
        misspelt = [item["loc"][:-1] for item in found if item["type"] == UNKNOWN]
        shown = [
            item for item in found if item["type"] != MISSING or item["loc"][:-1] not in misspelt
        ]
        raise StudyError(
            *(complaint(form, item, (*path, *by_id(content, item["loc"]))) for item in shown)
        ) from error


def by_id(content: Any, loc: Sequence[str | int]) -> Sequence[str | int]:
    """`claim X1` rather than `claim[1]`, where the table has a valid id."""
    if len(loc) < 2 or loc[0] != "claim":  # noqa: PLR2004  (the list, and the table in it)
        return loc
    table = content["claim"][loc[1]]
    name = table.get("id") if isinstance(table, dict) else None
    named_so = isinstance(name, str) and limits.NAME_PATTERN.fullmatch(name)
    return (f"claim {name}", *loc[2:]) if named_so else loc


def suggestion(word: object, known: Sequence[str]) -> str:
    """`; did you mean blocks?`, or nothing."""
    close = get_close_matches(word, known, 1, LIKE) if isinstance(word, str) else []
    return "".join(f"; did you mean {name}?" for name in close)


def complaint(form: type[TomlTable], error: ErrorDetails, loc: Sequence[str | int]) -> str:
    """One line about the error at this path."""
    kind = error["type"]
    key, needed, shown = error.get("ctx", {}).get("key"), error["msg"], repr(error["input"])
    shown = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}…"
    name, table = named((*loc, key) if key else loc), named(loc[:-1])
    last = loc[-1] if loc else ""  # of the table itself
    if kind == UNKNOWN:
        known = form.at(error["loc"][:-1]).known_keys()
        needed = f"{', '.join(known)}{suggestion(last, known)}"
    elif kind == "dict_type" and len(loc) > 1:
        kind = ""
    is_ = f"`{table}` contains" if isinstance(last, int) else f"`{name}` is"
    messages = {
        MUST: f"{is_} {shown}; it must be {needed}",
        WRONG: f"`{name}` {needed}",
        UNKNOWN: f"unknown key `{name}`; allowed here: {needed}",
        MISSING: f"{f'`{table}`' if table else 'the study'} has no `{last}`; add it",
        "list_type": f"`{name}` must be a list of tables; write [[{name}]]",
        "dict_type": f"`{name}` must hold named tables; write [{name}.NAME]",
    }
    a_table = f"`{name}` must be a table" + ("" if "[" in name else f"; write [{name}]")
    return messages.get(kind, a_table)
