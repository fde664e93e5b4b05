"""The pages of docs/ and the README: links and named files exist."""

import re
from pathlib import Path

import pytest

from tests.servers import REPOSITORY

PAGES = sorted(
    [*REPOSITORY.glob("docs/*.md"), *(REPOSITORY / f"{name}.md" for name in ("README", "SECURITY"))]
)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
FOLDERS = ("bench", "contenders", "deploy", "docs", "regatta", "scripts", "src", "studies", "tests")
FOLDER = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`")
SOURCE = re.compile(r"`([\w./-]+\.(?:c|h|py))`")


def anchors(page: str) -> set[str]:
    """Anchors of its headings, as GitHub generates them."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_has_a_target(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target.read_text()), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_named_file_exists(page: Path) -> None:
    """A source file may be named without its folder."""
    text = page.read_text()
    names = {name for name in (*FOLDER.findall(text), *SOURCE.findall(text)) if "NAME" not in name}
    assert [name for name in sorted(names) if not exists(name)] == []


def exists(name: str) -> bool:
    return (REPOSITORY / name).exists() or any(
        any((REPOSITORY / folder).glob(f"**/{name}")) for folder in FOLDERS
    )


def test_every_statement_of_the_threat_model_names_a_test() -> None:
    text = (REPOSITORY / "docs" / "threat-model.md").read_text()
    proven, _, _ = text.partition("\n## Known limits")
    tests = [
        path for path in (REPOSITORY / "tests").rglob("*.[cp]*") if path.suffix in (".c", ".py")
    ]
    written = "\n".join(path.read_text() for path in tests)
    names = re.findall(r"`([a-z]+(?:_[a-z0-9]+){2,})`", proven)
    assert [name for name in names if not re.search(rf"(?:def |TEST\(){name}\(?\)?", written)] == []
    bullets = re.findall(r"^- (?:.*\n)(?:  .*\n)*", proven, re.MULTILINE)
    assert len(bullets) > 15
    assert [bullet for bullet in bullets if not bullet.endswith("`\n")] == []
