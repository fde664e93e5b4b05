"""The error in what a dying program printed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regatta.measure.places.side import SidePlacement
from regatta.measure.trial.program import SideProgram, error_line

NODE = "function f() { throw new Error('this port is taken') }\nf()"
JAVA = """class A {
    public static void main(String[] arguments) {
        try { Integer.parseInt("port"); } catch (Exception e) { throw new RuntimeException(e); }
    }
}"""
PYTHON = "try:\n    {}['port']\nexcept KeyError as error:\n    raise ValueError('no port')"
RUST = """thread 'main' (12) panicked at src/main.rs:1:24:
no port
stack backtrace:
   0: rust_begin_unwind
             at /rustc/library/std/src/panicking.rs:689:5
note: Some details are omitted
"""
GO = """panic: assignment to entry in nil map

goroutine 1 [running]:
main.main()
\t/tmp/a.go:2 +0x28
exit status 2
"""
RUBY = "a.rb:1:in `f': no port (RuntimeError)\n\tfrom a.rb:2:in `<main>'\n"
DOTNET = "Unhandled exception. System.Exception: no port\n   at A.Main() in a.cs:line 3\n"
ELIXIR = "** (RuntimeError) no port\n    a.exs:1: (file)\n"
LOGGED = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
OSError: no port
[12] [INFO] Worker exiting
[11] [ERROR] Reason: Worker failed to boot.
"""


@pytest.mark.parametrize(
    ("program", "name", "code", "error"),
    [
        (sys.executable, "a.py", PYTHON, "ValueError: no port"),
        (sys.executable, "a.py", "def f(:", "SyntaxError: invalid syntax"),
        ("node", "a.js", NODE, "Error: this port is taken"),
        (
            "java",
            "A.java",
            JAVA,
            'Caused by: java.lang.NumberFormatException: For input string: "port"',
        ),
    ],
)
def test_a_program_that_throws_is_quoted_with_its_error(
    program: str, name: str, code: str, error: str, tmp_path: Path
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    (tmp_path / name).write_text(code)
    with (tmp_path / "server.stderr").open("w") as stderr:
        subprocess.run([program, name], stderr=stderr, cwd=tmp_path, check=False)
    side = SideProgram(SidePlacement((), (0,)), "server", tmp_path)
    assert str(side.failure("the server exited")) == f"the server exited: {error}"


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        (RUST, "thread 'main' (12) panicked at src/main.rs:1:24: no port"),
        (GO, "panic: assignment to entry in nil map"),
        (RUBY, "a.rb:1:in `f': no port (RuntimeError)"),
        (DOTNET, "Unhandled exception. System.Exception: no port"),
        (ELIXIR, "** (RuntimeError) no port"),
        (LOGGED, "OSError: no port"),
        ("listening on 80\ncannot bind\n", None),
        ("thread 'main' panicked at a.rs:1:24:", "thread 'main' panicked at a.rs:1:24:"),
        ('Traceback (most recent call last):\n  File "a.py", line 1', None),
        ("    at f (a.js:1:21)", None),
        ("", None),
    ],
)
def test_the_error_of_other_languages(printed: str, error: str | None) -> None:
    assert error_line(printed.splitlines()) == error
