"""The chart script is bundled once and cached."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from regatta.show import html as page


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """Each time that it was made; what is made here is no script that other tests could use."""
    times: list[str] = []

    def bundle() -> str:
        times.append("made")
        return "let made;\r\n"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    page.vega.cache_clear()
    yield times
    page.vega.cache_clear()


def in_another_process() -> str:
    page.vega.cache_clear()
    return page.vega()


def test_reports_use_the_bundle_cached_by_this_version(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [in_another_process() for _ in range(3)] == ["let made;\r\n"] * 3
    assert made == ["made"]
    assert list(page.path().parent.iterdir()) == [page.path()]
    monkeypatch.setattr(page, "version", lambda _: "99.0")
    in_another_process()
    assert made == ["made"] * 2


def test_without_a_writable_cache_each_report_bundles_anew(
    made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file")
    assert [in_another_process() for _ in range(2)] == ["let made;\r\n"] * 2
    monkeypatch.setenv("XDG_CACHE_HOME", "relative, and so ignored")

    def homeless(_: Any = None) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert in_another_process() == "let made;\r\n"
    assert len(made) == 3


@pytest.mark.usefixtures("made")
def test_a_cache_file_of_another_user_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_another_process()
    page.path().write_text("let harm;")
    assert in_another_process() == "let harm;"
    monkeypatch.setattr(os, "geteuid", lambda: page.path().stat().st_uid + 1)
    assert in_another_process() == "let made;\r\n"
