"""H06 against applications that read at full speed: random histories, whose seed names them (see order_histories.py)."""

import pytest

import harness
import order_histories

BROKER_PROPERTIES = {"group.initial.rebalance.delay.ms": 0}

GROUPS = 10
#: By default two histories; in the long form 50, of 500 groups.
SEEDS = [range(first, first + 5) for first in range(1, 51, 5)] if harness.LONG_TESTS else [range(1, 3)]
#: Of the keys that applications suffered, those of all groups of one reader together. None may be invented.
MISSED_MAX = 0.01
#: Groups of several members are still open: some of their keys are told as certain that two members had at once, and some are
#: missed. Two causes are known: what a client was handed before its group was known is not counted; and commits alone prove a
#: key for a group whose answers are not exact. The shares are those of the keys that all groups suffered.
MISSED_MAX_OF_MEMBERS = 0.1
INVENTED_MAX_OF_MEMBERS = 0.1


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
    single = [verdict for verdict in verdicts if verdict.plan.members == 1]
    several = [verdict for verdict in verdicts if verdict.plan.members > 1]
    assert invented_of(single) == 0, wrong
    assert missed_of(single) <= MISSED_MAX * suffered_of(single), wrong
    assert invented_of(several) <= INVENTED_MAX_OF_MEMBERS * suffered, wrong
    assert missed_of(several) <= MISSED_MAX_OF_MEMBERS * suffered, wrong
