"""Compiler and linker hardening of the programs, read from their ELF files."""

import json
import platform
import re
from pathlib import Path

import pytest

from tests.commands import run_well
from tests.servers import PRELOADABLE, SANITIZER, built, needs, program

PROGRAMS = [f"regatta-{name}" for name in ("server", "client", "canary", "dial")]
if Path(program("regatta-trace")).exists():  # left out without libbpf
    PROGRAMS.append("regatta-trace")
pytestmark = pytest.mark.skipif(
    SANITIZER is not None, reason="a build with a sanitizer brings its own checks instead"
)


def headers(name: str) -> str:
    return run_well(needs("readelf"), "--wide", "--headers", "--dynamic", program(name))


def imports(name: str) -> str:
    """Of a static program those of its twin, which is linked of the same objects."""
    file = PRELOADABLE if name == "regatta-server" else program(name)
    return run_well(needs("readelf"), "--wide", "--dyn-syms", file)


def code(name: str, *options: str) -> str:
    return run_well(
        needs("objdump"), "--disassemble", "--no-show-raw-insn", *options, program(name)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_has_pie_relro_bind_now_and_no_executable_stack(name: str) -> None:
    found = headers(name)
    wanted = {
        "position-independent (PIE)": r"^ *0x\w+ \(FLAGS_1\).* PIE$",
        "relocations read-only (RELRO)": r"^ *GNU_RELRO ",
        "all of them bound at the start (BIND_NOW)": r"^ *0x\w+ \(FLAGS\).* BIND_NOW$",
        "a stack that is not executable": r"^ *GNU_STACK .* RW +0x\w+$",
    }
    missing = [what for what, sign in wanted.items() if not re.search(sign, found, re.MULTILINE)]
    assert missing == []
    assert not re.search(r"^ *LOAD .* RWE ", found, re.MULTILINE), "writable code"


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_uses_fortified_calls_of_the_c_library(name: str) -> None:
    assert re.search(r" __\w+_chk@", imports(name)), "not built with _FORTIFY_SOURCE"


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_has_stack_protection(name: str) -> None:
    """In our own code: statically linked libraries may have their own protection."""
    main = code(name, "--disassemble=main")
    assert re.search("<__stack_chk_fail[@>]", main), "not built with -fstack-protector-strong"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="these instructions are of x86-64")
@pytest.mark.parametrize("name", PROGRAMS[:2])
def test_it_has_control_flow_and_stack_clash_protection(name: str) -> None:
    main = code(name, "--disassemble=main")
    assert re.search(r"<main>:\n *\w+:\tendbr64", main), "not built with -fcf-protection"
    probes = r"or[bwlq] +\$0x0,(0x\w+)?\(%rsp"
    assert re.search(probes, code(name)), "not built with -fstack-clash-protection"


def test_every_unit_has_the_highest_fortify_level_of_the_c_library() -> None:
    units = json.loads((Path(built(".")) / "compile_commands.json").read_text())
    levels = {
        re.findall(r"-D_FORTIFY_SOURCE=(\d)", unit["command"])[-1]
        for unit in units
        if unit["file"].startswith("../src/") and not unit["file"].endswith(".bpf.c")
    }
    newest = tuple(map(int, platform.libc_ver()[1].split("."))) >= (2, 35)
    assert levels == {"3" if newest else "2"}
