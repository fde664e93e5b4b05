"""What the client, the client as a remote top, and the server cannot do is refused in one line."""

import shlex
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.servers import program

CLIENT = {
    "-c": ["0", "-5", "five", "", "99999999999999999999"],
    "-n": ["65"],
    "--timeout": ["1.5"],
    "--load closed --duration": ["0", "inf", "0x10", "1.2.3"],
    "--load open --rate": ["fast", "1e3", "99999999"],
    "--load open --rate 100 --arrivals": ["odd"],
    "--load open --rate 100 --arrivals poisson --seed": ["x"],
    "--dialect http --path": ["x", "", "/a b", "/a\r\nX: y", "/ä", "/" + "x" * 1024],
    "--slow": ["-1"],
    "--dialect": ["gopher"],
    "--engine": ["warp"],
    "--cpus": ["9999", "zero"],
    "--gate-fd": ["99", "x"],
}
"""Options, and their wrong values."""
TOGETHER = """
    --load closed --rounds 2
    --duration 1
    --per-connection 1
    --load open
    --load open --rate 1000000 --duration 100
    --load open --rate 100 --seed 1
    --load open --rate 100 --engine fork
    --load closed --rate 100
    --load closed --arrivals even
    --path /x
    --dialect http --path /x -n 2
    --idle 1 --engine thread
    --json=yes
    --no-such-option
    -c
    -c 1000000 --rounds 1000000
    ::1
    127.0.0.1:65536
    no.such.host.invalid:7342
    127.0.0.1:7342 127.0.0.1:7343
"""
SOURCES = ["", "localhost", "127.0.0.2,", "127.0.0.2-", "127.0.0.3-127.0.0.2", "::1-::2", "::1"]
SOURCES += ["127.0.0.0-127.0.255.255", "192.0.2.1", "127.0.0.2:80"]
SAYING = """
    regatta-client
        --request 'two\nlines' | --request must be a line
        --request x --dialect http | --request is for --dialect line
        --request x -n 3 | --request and --top exclude each other
        --request x --until a$ | leave out $
        --request '\\q' --until x | a backslash is one of
        --until x | --until is for
        --dialect http --host 'a b' | --host must be NAME
        --host localhost | --host is for --dialect http
        --dialect http --requests FILE | line 2: its first line is not METHOD PATH
        --requests FOLDER | not a regular file
        --requests FOLDER/none | No such file
        --requests FILE --path /x --dialect http | exclude each other
        --requests FILE -n 3 | exclude each other
        --requests FILE --request x | exclude each other
        --dialect http --path / --expect FILE | line 1: it does not begin with a status
        --dialect http --path / --expect TWICE | 2 lines for 1 requests
        --dialect http --path / --expect FOLDER | not a regular file
        --dialect http --path / --expect FOLDER/none | No such file
        --dialect http --expect TWICE | --expect is for
        --request x --expect TWICE | --expect is for
        --dialect http -n 3 --expect TWICE | --expect is for
    regatta-client --watch
        --interval 0 | --interval must be a number of seconds from 0.1 to 3600, not '0'
        --interval x | --interval must be
        --count 0 | --count must be a number from 1
        -n 65 | --top must be a number from 1 to 64, not '65'
        --window 61 | --window must be a number of seconds from 1 to 60, not '61'
        --window 10000000000 | --window must be
        --by total --window 5 | --window needs --by recent
        --by most | --by must be recent or total, not 'most'
        --group user | --group must be none, name, unit or cgroup, not 'user'
        --rounds 2 | unknown option --rounds; see --watch --help
        -c 2 | unknown option -c; see --watch --help
        a:b | 'a:b': the port must be a number
        'a b' | the name must be of printable ASCII
        MANY | at most 64 hosts, not 65
        --json=1 | --json=1 takes no value
        --token-file FILE | --token-file
    regatta-server
        --design nosuch | --list-designs
        --work nosuch | scan, classic, snapshot, wait=DURATION, spin=DURATION
        --work scan=5ms | no duration
        --work wait=5 | us, ms or s, from 1us to 60s
        --source nosuch | auto, procfs, bpf
        --listen ::1 | HOST:PORT
        --listen no-such-host.invalid:1 | no-such-host.invalid
        --max-connections 0 | from 1 to
        --backlog -1 | from 1 to
        --idle-timeout 0 | from 1 to
        --max-age x | from 0 to
        --ready-fd 77 | descriptor
        --cpus x | list of CPUs
        --cpus 1000 | no such CPU
        --json | --list-designs
        --sandbox half | on, off or require
        surplus | --help
        --nosuch | --nosuch
        --design | needs a value
        -x | -x
"""
"""By program: options, and words of the complaint."""


def cases() -> list[tuple[str, list[str], str]]:
    """The program and its mode, the options, and the words."""
    name = "regatta-client"
    found = [
        (name, [*key.split(), value], "") for key, values in CLIENT.items() for value in values
    ]
    found += [(name, line.split(), "") for line in TOGETHER.strip().splitlines()]
    found += [(name, ["--sources", value, "127.0.0.1:1"], "--sources") for value in SOURCES]
    for line in SAYING.replace("two\nlines", "two\0lines").strip().splitlines():
        options, bar, words = line.strip().partition(" | ")
        if bar:
            split = [word.replace("\0", "\n") for word in shlex.split(options)]
            found.append((name, split, words))
        else:
            name = options
    return found


@pytest.mark.parametrize(
    ("name", "options", "words"), cases(), ids=[" ".join(options)[:60] for _, options, _ in cases()]
)
def test_it_is_refused_in_one_line(
    name: str, options: list[str], words: str, tmp_path: Path
) -> None:
    file, twice = tmp_path / "file", tmp_path / "twice"
    file.write_text("1 GET / HTTP/1.1\\r\\n\\r\\n\n1 GET /\\r\\n\\r\\n\n")
    twice.write_text("200 1 1 -\n200 1 1 -\n")
    known = {"FILE": file, "TWICE": twice, "FOLDER": tmp_path, "FOLDER/none": tmp_path / "none"}
    given = ["h"] * 65 if options == ["MANY"] else [known.get(word, word) for word in options]
    program_name, *mode = name.split()
    done = run(program(program_name), *mode, *given)
    assert_refused(done, name=name)
    assert words in done.stderr
