"""scripts/fuzz measures the coverage of files that it names."""

import re

from tests.commands import run_well
from tests.servers import REPOSITORY


def test_every_parser_whose_coverage_is_measured_exists() -> None:
    script = (REPOSITORY / "scripts" / "fuzz").read_text()
    listed = re.search(r"^readonly parsers=\(.*?^\)", script, re.MULTILINE | re.DOTALL)
    assert listed is not None
    files = run_well("bash", "-c", listed[0] + '\nprintf "%s\\n" "${parsers[@]}"').splitlines()
    assert len(files) > 10
    assert [file for file in files if not (REPOSITORY / file).is_file()] == []
