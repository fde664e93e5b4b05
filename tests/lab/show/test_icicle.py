"""Stacks as frames of an icicle."""

from regatta.show.stacks import difference_colour, frames


def test_callers_hold_what_they_call_the_longest_first() -> None:
    found = frames(
        {
            "a;main (a);f (a)": 1.0,
            "a;main (a);g (a)": 0.25,
            "a;main (a);write (libc)": 0.5,
            "a;main (a);write (libc);__x64_sys_write_[k]": 4.0,
            "a;main (a);write (libc);__x64_sys_write_[k];net_rx_action_[k]": 6.0,
            "idle;net_rx_action_[k]": 2.0,
        }
    )
    assert {(frame.stack[-1], frame.start_us, frame.spent_us, frame.kind) for frame in found} == {
        ("a", 0.0, 11.75, "user code"),
        ("main (a)", 0.0, 11.75, "user code"),
        ("write (libc)", 0.0, 10.5, "user code"),
        ("f (a)", 10.5, 1.0, "user code"),
        ("g (a)", 11.5, 0.25, "user code"),
        ("__x64_sys_write_[k]", 0.0, 10.0, "packets received"),
        ("net_rx_action_[k]", 0.0, 6.0, "packets received"),
        ("idle", 11.75, 2.0, "packets received"),
        ("net_rx_action_[k]", 11.75, 2.0, "packets received"),
    }


def test_a_colour_says_how_much_more_or_less() -> None:
    assert difference_colour(0) == "#d5d8dd"
    assert difference_colour(2) == difference_colour(1) == "#ff8a65"
    assert difference_colour(-1) == "#7fb2ff"
    assert difference_colour(0.5) == "#eab1a1"
