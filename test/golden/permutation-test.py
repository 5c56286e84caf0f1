"""Writes permutation-test.json: paired permutation tests by scipy, Holm's correction by statsmodels.

    python -m venv ENV && ENV/bin/pip install scipy==1.17.1 numpy==2.4.6 statsmodels==0.15.0
    ENV/bin/python test/golden/permutation-test.py > test/golden/permutation-test.json

"exact" looks at every sign pattern; "drawn" at 400 000 of them, so that its p is within .002 or so of the true one.
"""

import importlib.metadata
import json
import random
import sys

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

SEED = 20240607
draw = random.Random(SEED)


def tested(differences, resamples):
    result = stats.permutation_test(
        (np.array(differences),),
        np.mean,
        permutation_type="samples",
        alternative="two-sided",
        n_resamples=resamples,
        rng=np.random.default_rng(SEED),
    )
    return {"differences": differences, "p": float(result.pvalue)}


def sample(count, centre, step):
    """Rounded to a step, as metrics of few relevant passages are: with ties and zeros."""
    return [round(round(draw.gauss(centre, 0.4) / step) * step, 4) for _ in range(count)]


ps = [[0.01, 0.04, 0.03], [0.2, 0.2, 0.01, 0.9], [0.049], [0.6, 0.7], [0.0001, 0.0001, 0.012, 0.03, 0.5]]
json.dump(
    {
        "tool": ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("scipy", "numpy", "statsmodels")),
        "script": "test/golden/permutation-test.py",
        "seed": SEED,
        "tolerance": 1e-12,
        "drawnTolerance": 0.02,
        "exact": [
            tested(sample(n, centre, step), np.inf)
            for n, centre, step in [(2, 1, 0.1), (5, 0.4, 0.25), (8, 0.2, 0.1), (12, 0.3, 0.0001), (16, 0.15, 0.25)]
        ],
        "drawn": [
            tested(sample(n, centre, step), 400_000)
            for n, centre, step in [(40, 0.1, 0.1), (60, 0.05, 0.25), (200, 0.03, 0.0001)]
        ],
        "holm": [[given, [float(p) for p in multipletests(given, method="holm")[1]]] for given in ps],
    },
    sys.stdout,
)
print()
