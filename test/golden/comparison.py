"""Writes comparison.json: McNemar's exact test, bootstrap intervals of paired differences, detectable differences,
Cohen's h and Newcombe's intervals by scipy and statsmodels.

    python -m venv ENV && ENV/bin/pip install scipy==1.17.1 numpy==2.4.6 statsmodels==0.15.0
    ENV/bin/python test/golden/comparison.py > test/golden/comparison.json
"""

import importlib.metadata
import json
import sys

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_effectsize

SEED = 20240611
draw = np.random.default_rng(SEED)


def disagreement(b, c):
    return [b, c, float(mcnemar([[7, b], [c, 3]], exact=True).pvalue)]


def paired(n, metric):
    """Two runs of one metric, questions of unlike difficulty."""
    ease = draw.normal(0, 1.2, n)
    left, right = ease + draw.normal(0.3, 1, n), ease + draw.normal(0, 1, n)
    if metric == "share":
        left, right = (left > 0).astype(float), (right > 0).astype(float)
    else:
        left, right = np.round(1 / (1 + np.exp(-left)), 4), np.round(1 / (1 + np.exp(-right)), 4)
    found = stats.bootstrap(
        (left, right),
        lambda a, b, axis=-1: np.mean(a - b, axis=axis),
        paired=True,
        n_resamples=40_000,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return {
        "left": left.tolist(),
        "right": right.tolist(),
        "ci95": [float(found.confidence_interval.low), float(found.confidence_interval.high)],
        "standardError": float(stats.sem(left - right)),
        "effect": float(np.mean(left - right) / np.std(left - right, ddof=1)),
    }


def crossed(questions, runs):
    """Both factors resampled, each side's runs for themselves, by plain numpy."""
    ease = draw.normal(0, 1.2, questions)
    sides = [
        (ease + shift + draw.normal(0, 0.5, (runs, 1)) + draw.normal(0, 1, (runs, questions)) > 0).astype(float)
        for shift in (0.6, 0)
    ]
    rng = np.random.default_rng(SEED)
    means = []
    for _ in range(20_000):
        columns = rng.integers(questions, size=questions)
        a, b = (side[rng.integers(runs, size=runs)][:, columns].mean() for side in sides)
        means.append(a - b)
    return {
        "left": sides[0].astype(int).tolist(),
        "right": sides[1].astype(int).tolist(),
        "ci95": [float(v) for v in np.quantile(means, [0.025, 0.975])],
        "standardError": float(np.std(means, ddof=1)),
    }


def newcombe(left, n, right, m):
    low, high = confint_proportions_2indep(
        round(left * n), n, round(right * m), m, method="newcomb", compare="diff"
    )
    return [left, n, right, m, float(low), float(high)]


json.dump(
    {
        "tool": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("scipy", "statsmodels", "numpy")),
        "script": "test/golden/comparison.py",
        "seed": SEED,
        "mcnemar": [
            disagreement(b, c)
            for b, c in [(0, 0), (1, 0), (5, 1), (3, 3), (4, 5), (12, 30), (61, 39), (200, 260), (1500, 1390)]
        ],
        "paired": [paired(n, metric) for n in (20, 100, 400) for metric in ("share", "score")],
        "crossed": [crossed(60, 3), crossed(200, 5)],
        # In units of the deviation of the differences.
        "detectable": [
            [n, float(TTestPower().solve_power(effect_size=None, nobs=n, alpha=0.05, power=0.8))]
            for n in (10, 20, 50, 125, 500, 7405)
        ],
        "shareEffect": [
            [a, b, float(proportion_effectsize(a, b))]
            for a, b in [(0.5, 0.25), (0.01, 0.05), (0.45, 0.55), (0, 1), (0.48, 0.48), (0.999, 0.9)]
        ],
        "newcombe": [
            newcombe(*row)
            for row in [(0.4, 500, 0.48, 7400), (0, 20, 0.1, 50), (1, 10, 0.5, 10), (0.43, 100, 0.4, 125)]
        ],
    },
    sys.stdout,
)
print()
