"""H06 against applications that read at full speed: random histories, whose seed names them (see order_histories.py)."""

import pytest

import harness
import order_histories

BROKER_PROPERTIES = {"group.initial.rebalance.delay.ms": 0}

GROUPS = 10
#: By default two histories; in the long form 50, of 500 groups.
SEEDS = [range(first, first + 5) for first in range(1, 51, 5)] if harness.LONG_TESTS else [range(1, 3)]
#: Of the keys that applications suffered, all groups together. Wanted are 0.01 missed and none invented. Still open: a rebalance soon
#: after another one, in a group of several members, where some keys are told as certain that were in two members at once.
MISSED_MAX = 0.1
INVENTED_MAX = 0.1


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_random_histories_suffer_what_is_told(broker, seeds):
    verdicts = [verdict for seed in seeds for verdict in order_histories.play(broker, order_histories.plan_of(seed, GROUPS))]
    wrong = [str(verdict) for verdict in verdicts if not verdict.is_right]
    suffered = sum(len(verdict.suffered) for verdict in verdicts)
    told = sum(len(verdict.told) for verdict in verdicts)
    print(f"{len(verdicts)} groups; {suffered} keys suffered, {told} told; not exact:", *wrong, sep="\n")
    assert suffered > 0
    assert sum(len(verdict.invented) for verdict in verdicts) <= INVENTED_MAX * suffered, wrong
    assert sum(verdict.missed for verdict in verdicts) <= MISSED_MAX * suffered, wrong
