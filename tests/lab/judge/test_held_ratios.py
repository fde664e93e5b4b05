"""How the rates that contenders hold compare: what few blocks of searches show, and what not."""

import math

import numpy as np
import pytest

from regatta.judge.columns import AgainstBest
from regatta.judge.held_rates import CLIENT_LIMITED, Brackets, held_against_best, worse_by
from regatta.judge.standings import LARGER, NO_DIFFERENCE, TOO_FEW

STEP = 1.03


def brackets(*rates: float, limited: bool = False) -> Brackets:
    """A search a block, which ended at this rate."""
    return {
        block: (math.log(rate), math.inf if limited else math.log(rate * STEP))
        for block, rate in enumerate(rates, start=1)
    }


def compared(**rates: Brackets) -> dict[str, AgainstBest]:
    (found,) = held_against_best([rates])
    return {against.contender: against for against in found}


class TestAgainstTheBest:
    def test_370_to_1_is_shown_by_two_blocks(self) -> None:
        against = compared(plain=brackets(37_000, 38_000), odd=brackets(100, 103))["odd"]
        assert (against.best, against.outcome) == ("plain", LARGER)
        assert against.value == pytest.approx(370, rel=0.02)
        assert against.low < 369 < against.high

    def test_two_blocks_that_agree_by_chance_are_not_certain(self) -> None:
        against = compared(a=brackets(1_100, 1_100), b=brackets(1_000, 1_000))["b"]
        assert against.outcome == NO_DIFFERENCE
        assert against.low < 1

    def test_two_blocks_of_many_contenders_bound_nothing(self) -> None:
        """As in the study `runtimes`: the quantile of so many pairs is in the thousands."""
        rates = {
            f"d{at}": brackets(*((4e3, 9e3 + at) if at % 2 else (9e3, 4e3))) for at in range(18)
        }
        found = compared(**rates)
        assert {against.outcome for against in found.values()} == {NO_DIFFERENCE}
        assert {against.detectable for against in found.values()} == {None}

    def test_a_single_block_compares_nothing(self) -> None:
        against = compared(a=brackets(9_000), b=brackets(100))["b"]
        assert (against.outcome, against.value) == (TOO_FEW, None)

    def test_if_the_client_is_the_limit_of_the_best_the_ratio_has_no_upper_end(self) -> None:
        best = brackets(37_000, 38_000, 36_000, limited=True)
        against = compared(best=best, odd=brackets(100, 103, 98))["odd"]
        assert (against.outcome, against.high) == (LARGER, None)
        assert against.low > 200

    def test_a_server_that_the_client_limits_is_not_called_worse(self) -> None:
        other = brackets(20_000, 21_000, 20_500, limited=True)
        against = compared(a=brackets(40_000, 41_000, 39_000), b=other)["b"]
        assert (against.outcome, against.value, against.low) == (CLIENT_LIMITED, None, None)

    def test_equals_are_told_apart_in_few_races_with_all_their_pairs_and_loads(self) -> None:
        chance = np.random.default_rng(5)

        def race() -> bool:
            groups = [
                {name: brackets(*np.exp(chance.normal(9, 0.05, 3))) for name in "abcd"}
                for _ in range(2)
            ]
            return any(
                against.outcome == LARGER for of in held_against_best(groups) for against in of
            )

        assert sum(race() for _ in range(400)) <= 20


class TestWorseBy:
    def test_it_is_the_ratio_to_the_mean_of_both_bases_in_each_block(self) -> None:
        bases = [brackets(1_000, 2_000), brackets(1_000, 2_000)]
        found = worse_by(bases, brackets(500, 1_000))
        assert found == {1: pytest.approx(math.log(2)), 2: pytest.approx(math.log(2))}

    @pytest.mark.parametrize(
        ("base", "head", "sign"), [(True, False, 1), (False, True, -1), (True, True, 0)]
    )
    def test_who_holds_all_that_the_client_can_ask_loses_to_nobody(
        self, base: bool, head: bool, sign: int
    ) -> None:
        for rates in ((1_000, 900), (900, 1_000)):
            found = worse_by([brackets(rates[0], limited=base)], brackets(rates[1], limited=head))
            assert found[1] * sign >= 0
            assert sign or found[1] == 0

    def test_only_blocks_that_searched_all_count(self) -> None:
        assert list(worse_by([brackets(1, 2, 3), brackets(1, 2)], brackets(1, 2, 3))) == [1, 2]
