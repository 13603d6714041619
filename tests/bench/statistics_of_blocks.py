"""Ratios of contenders within blocks of runs, and how sure they are."""

import math
import random

RESAMPLES = 2000
SEED = 1


def geometric_mean(values):
    if any(value <= 0 for value in values):
        return 0.0
    return math.exp(sum(math.log(value) for value in values) / len(values))


def block_ratios(blocks, figure, ours, theirs):
    """One ratio ours/theirs per block that has both. `blocks`: list of {contender: [ {figure: value}, ... ]}."""
    ratios = []
    for block in blocks:
        values = [[run[figure] for run in block.get(name, []) if run.get(figure)] for name in (ours, theirs)]
        if all(values):
            ratios.append(geometric_mean(values[0]) / geometric_mean(values[1]))
    return ratios


def interval(ratios):
    """The geometric mean of the ratios with its 95 % bootstrap interval; (mean, None, None) for fewer than three."""
    mean = geometric_mean(ratios)
    if len(ratios) < 3:
        return mean, None, None
    chance = random.Random(SEED)
    means = sorted(geometric_mean(chance.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return mean, means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]
