"""Numbers of any locale: what was printed is read, and what is no number is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.teach.review.figures import parse_decimal, parse_number, point_of
from tests.lab.teach.found import locales


@given(st.integers(0, 10**15), locales)
def test_a_count_is_read_in_every_locale(value: int, locale) -> None:
    number = parse_number(locale.whole(value), locale.point)
    assert number is not None
    assert (number.value, number.decimals) == (value, 0)


@given(st.integers(0, 10**12), st.integers(1, 9), locales)
def test_a_decimal_is_read_in_every_locale(scaled: int, decimals: int, locale) -> None:
    value = scaled / 10**decimals
    number = parse_decimal(locale.decimal(value, decimals))
    assert number is not None
    assert abs(number.value - value) <= number.half * 1.01


@given(st.integers(1000, 10**12), st.integers(0, 99), locales)
def test_groups_and_decimals_in_one_number_show_the_point(whole: int, cents: int, locale) -> None:
    text = f"{locale.whole(whole)}{locale.point}{cents:02}"
    assert point_of([text, "1,234", "1.234"]) == locale.point
    number = parse_number(text, locale.point)
    assert number is not None
    assert number.value == pytest.approx(whole + cents / 100)


@pytest.mark.parametrize(
    ("text", "point", "value"),
    [
        ("41,68,30,285", ".", 416_830_285),
        ("1,02,345.67", ".", 102_345.67),
        ("1,234", ".", 1234),
        ("1,234", ",", 1.234),
        ("371.078", ".", 371.078),
        ("371.078", ",", 371_078),
        ("416.830.285", ".", 416_830_285),
        ("102,63", ".", 102.63),
        ("1 234 567", ".", 1_234_567),
        ("4.168E+08", ".", 416_800_000),
        (" 12 ", ".", 12),
        ("-3", ".", -3),
    ],
)
def test_a_number_that_could_be_two_is_read_by_the_point(
    text: str, point: str, value: float
) -> None:
    number = parse_number(text, point)
    assert number is not None
    assert number.value == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1,23,45", "1.2.3", "1,,2", "12 3", "1e999", "9" * 1000, "1,234 567", "0x10"]
    + ["1e-300", "1e30", "3.2 1", "--1", "1_"],
)
def test_what_is_no_number_in_any_locale_is_none(text: str) -> None:
    assert parse_number(text) is None


@given(st.text(max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    parse_number(text)
    parse_decimal(text)
    assert point_of([text])
