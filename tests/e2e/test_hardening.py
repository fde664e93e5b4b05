"""The programs are hardened, as read from their ELF files: whatever is missing is named."""

import json
import platform
import re
from pathlib import Path

import pytest

from tests.commands import run_well
from tests.servers import SANITIZER, built, needs, program

PROGRAMS = ["regatta-server", "regatta-client", "regatta-canary", "regatta-dial"]
pytestmark = pytest.mark.skipif(
    SANITIZER is not None, reason="a build with a sanitizer brings its own checks instead"
)


def headers(name: str) -> str:
    return run_well(needs("readelf"), "--wide", "--headers", "--dynamic", program(name))


def imports(name: str) -> str:
    return run_well(needs("readelf"), "--wide", "--dyn-syms", program(name))


def code(name: str, *options: str) -> str:
    return run_well(
        needs("objdump"), "--disassemble", "--no-show-raw-insn", *options, program(name)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_lies_anywhere_its_stack_is_no_code_and_its_tables_are_read_only(name: str) -> None:
    told = headers(name)
    wanted = {
        "position-independent (PIE)": r"^ *0x\w+ \(FLAGS_1\).* PIE$",
        "relocations read-only (RELRO)": r"^ *GNU_RELRO ",
        "all of them bound at the start (BIND_NOW)": r"^ *0x\w+ \(FLAGS\).* BIND_NOW$",
        "a stack that is not executable": r"^ *GNU_STACK .* RW +0x\w+$",
    }
    missing = [what for what, sign in wanted.items() if not re.search(sign, told, re.MULTILINE)]
    assert missing == []
    assert not re.search(r"^ *LOAD .* RWE ", told, re.MULTILINE), "code that can be written to"


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_uses_the_checked_calls_of_the_c_library(name: str) -> None:
    assert re.search(r" __\w+_chk@", imports(name)), "not built with _FORTIFY_SOURCE"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stack_that_was_written_over_ends_it(name: str) -> None:
    """In our own code: a library that is linked in may be guarded by itself."""
    main = code(name, "--disassemble=main")
    assert "<__stack_chk_fail@" in main, "not built with -fstack-protector-strong"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="what is looked for is of x86-64")
@pytest.mark.parametrize("name", PROGRAMS[:2])
def test_a_jump_lands_only_where_it_may_and_no_page_of_the_stack_is_leapt_over(name: str) -> None:
    main = code(name, "--disassemble=main")
    assert re.search(r"<main>:\n *\w+:\tendbr64", main), "not built with -fcf-protection"
    probes = r"or[bwlq] +\$0x0,(0x\w+)?\(%rsp"
    assert re.search(probes, code(name)), "not built with -fstack-clash-protection"


def test_every_unit_is_built_with_the_strictest_fortification_that_the_c_library_has() -> None:
    units = json.loads((Path(built(".")) / "compile_commands.json").read_text())
    levels = {
        re.findall(r"-D_FORTIFY_SOURCE=(\d)", unit["command"])[-1]
        for unit in units
        if unit["file"].startswith("../src/") and not unit["file"].endswith(".bpf.c")
    }
    newest = tuple(map(int, platform.libc_ver()[1].split("."))) >= (2, 35)
    assert levels == {"3" if newest else "2"}
