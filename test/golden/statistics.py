"""Writes statistics.json: t quantiles, t intervals, t tests, Welch's tests and Wilson intervals by scipy.

    python -m venv ENV && ENV/bin/pip install scipy==1.17.1 numpy==2.4.6
    ENV/bin/python test/golden/statistics.py > test/golden/statistics.json
"""

import importlib.metadata
import json
import random
import sys

from scipy import special, stats

SEED = 20240607
draw = random.Random(SEED)


def sample(count, centre, spread):
    return [round(draw.gauss(centre, spread), 4) for _ in range(count)]


def interval(result):
    found = result.confidence_interval(0.95)
    return [float(found.low), float(found.high)]


def tested(result):
    return {"t": float(result.statistic), "p": float(result.pvalue), "ci95": interval(result)}


def one(values):
    return {"values": values, **tested(stats.ttest_1samp(values, 0))}


def two(test, left, right):
    return {"left": left, "right": right, **tested(test(left, right))}


def welch(left, right):
    return stats.ttest_ind(left, right, equal_var=False)


degrees = [*range(1, 31), 1.5, 2.37, 7.81, 100, 1000.5]
sizes = [2, 3, 4, 5, 10, 30]
json.dump(
    {
        "tool": f"scipy {importlib.metadata.version('scipy')}",
        "script": "test/golden/statistics.py",
        "seed": SEED,
        "tolerance": 1e-9,
        "quantiles": [[d, float(stats.t.ppf(0.975, d))] for d in degrees],
        "twoSided": [
            [t, d, float(2 * stats.t.sf(t, d))]
            for d in [1, 2, 3.3, 8, 29, 250]
            for t in [0, 0.01, 0.5, 1, 2.5, 7, 40]
        ],
        "beta": [
            [x, a, b, float(special.betainc(a, b, x))]
            for x in [0.001, 0.2, 0.5, 0.9, 0.9999]
            for a, b in [(0.5, 0.5), (1, 3), (7.25, 0.5), (15, 40), (300, 0.5)]
        ],
        "oneSample": [one(sample(n, 0.3, 0.2)) for n in sizes],
        "paired": [two(stats.ttest_rel, sample(n, 0.6, 0.1), sample(n, 0.5, 0.1)) for n in sizes],
        "welch": [
            two(welch, sample(n, 0.6, 0.1), sample(m, 0.5, 0.03))
            for n, m in [(2, 2), (2, 3), (3, 3), (3, 5), (10, 4), (30, 30)]
        ],
        "wilson": [
            [k, n, *map(float, stats.binomtest(k, n).proportion_ci(0.95, "wilson"))]
            for k, n in [(0, 1), (0, 10), (1, 10), (5, 10), (10, 10), (137, 500), (499, 500)]
        ],
    },
    sys.stdout,
)
print()
