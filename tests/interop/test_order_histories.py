"""H06 against applications that read at full speed: random histories, whose seed names them (see order_histories.py)."""

import harness
import order_histories

BROKER_PROPERTIES = {"group.initial.rebalance.delay.ms": 0}

GROUPS = 10
#: By default, and in the long form: 500 groups.
SEEDS = range(1, 51) if harness.LONG_TESTS else range(1, 3)
#: Of the keys that applications suffered, all groups together.
MISSED_MAX = 0.01


def test_random_histories_suffer_what_is_told(broker):
    verdicts = [verdict for seed in SEEDS for verdict in order_histories.play(broker, order_histories.plan_of(seed, GROUPS))]
    wrong = [str(verdict) for verdict in verdicts if not verdict.is_right]
    suffered = sum(len(verdict.suffered) for verdict in verdicts)
    told = sum(len(verdict.told) for verdict in verdicts)
    print(f"{len(verdicts)} groups; {suffered} keys suffered, {told} told; not exact:", *wrong, sep="\n")
    assert suffered > 0
    assert not [str(verdict) for verdict in verdicts if verdict.invented]
    assert sum(verdict.missed for verdict in verdicts) <= MISSED_MAX * suffered, wrong
