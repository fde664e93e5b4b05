"""The pages of docs/ and the README: what they link to and the files they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.servers import REPOSITORY

PAGES = sorted([*REPOSITORY.glob("docs/*.md"), REPOSITORY / "README.md"])
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(
    r"`((?:src|regatta|tests|bench|studies|contenders|deploy|scripts|docs)/[\w./-]+)`"
)


def anchors(page: str) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target.read_text()), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    for name in NAMED.findall(page.read_text()):
        assert (REPOSITORY / name.rstrip("/.")).exists() or "NAME" in name, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_what_it_is_for(page: Path) -> None:
    title, _, first = page.read_text().partition("\n\n")
    assert title.startswith("# ")
    assert re.match(r"[A-Z*]", first), "prose"
