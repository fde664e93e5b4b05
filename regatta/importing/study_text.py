"""The study of imported frameworks, its claims from their ranking, and its build script."""

import json
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from regatta.importing.httparena import FRAMEWORKS, TESTS, ArenaTest, Framework

PORT = 8080
"""On which every framework listens."""
PATH = "/baseline11?a=1&b=1"
BLOCKS = 10
COUNTED_BLOCKS = {"throughput": 2, "task_clock": 6}
"""Verdicts on counters need six."""
DURATION_S = 2


def image_of(framework: Framework) -> str:
    return f"localhost/httparena-{framework.name.lower()}"


def build_script(frameworks: Sequence[Framework], folder: Path, engine: str) -> str:
    """Shell commands that build the images."""
    lines = ["#!/bin/sh", "# Builds the images of an imported study.", "set -e"]
    for one in frameworks:
        context = folder.resolve() / FRAMEWORKS / one.name
        lines.append(f"{engine} build -t {image_of(one)} {shlex.quote(str(context))}")
    return "\n".join(lines) + "\n"


def study_text(test: str, frameworks: Sequence[Framework]) -> str:
    return "\n".join(_lines(test, TESTS[test], frameworks)) + "\n"


def _lines(name: str, test: ArenaTest, frameworks: Sequence[Framework]) -> Iterator[str]:
    best = frameworks[0]
    metric = "task_clock" if test.is_paced else "throughput"
    yield "# Written by regatta import httparena."
    yield f"name = {_text(f'httparena-{name}')}"
    yield f"title = {_text(f'HttpArena, {name}, at {best.connections:,} connections')}"
    yield ""
    yield "[race]"
    yield f"blocks = {BLOCKS}"
    yield f"counted_blocks = {COUNTED_BLOCKS[metric]}"
    yield ""
    yield "[placement]"
    yield 'kind = "containers"'
    for one in frameworks:
        yield ""
        yield f"[contenders.{_text(one.name)}]"
        yield f"title = {_text(one.title)}"
        yield f"image = {_text(image_of(one))}"
        yield f"command = [{', '.join(map(_text, one.command))}]"
        yield f"port = {PORT}"
        yield f"path = {_text(PATH)}"
        yield 'stop_signal = "SIGKILL"  # process 1 of a container may ignore SIGTERM'
    yield ""
    yield "[[cells]]"
    yield f"contenders = [{', '.join(_text(one.name) for one in frameworks)}]"
    yield f"connections = {best.connections}"
    yield 'dialect = "http"'
    yield 'work = "snapshot"'
    yield f'load = "{"closed" if best.rate is None else "open"}"'
    yield f"duration_s = {DURATION_S}"
    if best.rate is not None:
        yield f"rate = {best.rate}"
    if test.per_connection:
        yield f"per_connection = {test.per_connection}"
    yield ""
    yield "[sources.httparena]"
    yield 'title = "HttpArena"'
    for number, (ahead, behind) in enumerate(pairwise(frameworks), start=1):
        if ahead.published != behind.published:
            yield ""
            yield from _claim(f"H{number}", test, metric, ahead, behind)


def _claim(
    id_: str, test: ArenaTest, metric: str, ahead: Framework, behind: Framework
) -> Iterator[str]:
    lower, higher = (behind, ahead) if test.rises else (ahead, behind)
    figures = f"{ahead.published:,.9g} and {behind.published:,.9g} {test.unit}"
    yield "[[claim]]"
    yield f"id = {_text(id_)}"
    yield f"says = {_text(f'{ahead.name} {test.what} {behind.name}.')}"
    yield 'source = "httparena"'
    yield f"note = {_text(f'Published: {figures}, on another machine.')}"
    yield f'metric = "{metric}"'
    yield f'side = "{"server" if test.is_paced else "client"}"'
    if test.is_paced:
        yield 'per = "request"'
    yield f"connections = {ahead.connections}"
    yield f"order = [{_text(lower.name)}, {_text(higher.name)}]"


def _text(value: str) -> str:
    """A basic string of TOML: JSON's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
