"""H06 against applications that read at full speed: random histories, whose seed names them (see order_histories.py)."""

import pytest

import harness
import order_histories

BROKER_PROPERTIES = {"group.initial.rebalance.delay.ms": 0}

GROUPS = 10
#: By default two histories; in the long form 50, of 500 groups.
SEEDS = [range(first, first + 5) for first in range(1, 51, 5)] if harness.LONG_TESTS else [range(1, 3)]
#: Of the keys that applications suffered. None may be invented.
MISSED_MAX = 0.01
#: Groups with numbers that are lower bounds.
INEXACT_MAX = 0.05


def suffered_of(verdicts):
    return sum(len(verdict.suffered) for verdict in verdicts)


def invented_of(verdicts):
    return sum(len(verdict.invented) for verdict in verdicts)


def missed_of(verdicts):
    return sum(verdict.missed for verdict in verdicts)


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_random_histories_suffer_what_is_told(broker, seeds):
    verdicts = [verdict for seed in seeds for verdict in order_histories.play(broker, order_histories.plan_of(seed, GROUPS))]
    wrong = [str(verdict) for verdict in verdicts if not verdict.is_right]
    suffered = suffered_of(verdicts)
    told = sum(len(verdict.told) for verdict in verdicts)
    print(f"{len(verdicts)} groups; {suffered} keys suffered, {told} told; not exact:", *wrong, sep="\n")
    assert suffered > 0
    assert invented_of(verdicts) == 0, wrong
    assert missed_of(verdicts) <= MISSED_MAX * suffered, wrong
    assert sum(not verdict.is_exact and not verdict.may_be_inexact for verdict in verdicts) <= INEXACT_MAX * len(verdicts), wrong
