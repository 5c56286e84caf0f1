"""Writes bm25-variants.json: scores of the BM25 variants by bm25s, in float64, for every passage with a term of the query.

    python -m venv ENV && ENV/bin/pip install bm25s==0.3.16 numpy==2.4.6
    node test/golden/bm25-variants.mjs TERMS.json
    ENV/bin/python test/golden/bm25-variants.py TERMS.json > test/golden/bm25-variants.json

bm25s gives "bm25+" and "bm25l" a score for terms that a passage lacks (what the formula gives at frequency 0), the same for
all passages: the sum over the whole query. We sum over the terms that the passage has, as the papers do. Both are bm25s's own
numbers: it stores, per posting, weight minus nonoccurrence, and per term the nonoccurrence; "matching" adds the two for the
terms a passage has, "whole" is `get_scores`. Where the two can differ both are written. Every weight is also computed here
from the formula in "formulas" and compared to 1e-12 before anything is written.
"""

import importlib.metadata
import json
import math
import sys
from collections import Counter

import bm25s
import numpy as np

SETTINGS = [{"k1": 0.9, "b": 0.4, "delta": 0.5}, {"k1": 1.5, "b": 0.75, "delta": 1.0}]
NOTES = {
    "symbols": "N passages; df passages with the term; tf its count in the passage; L = 1 - b + b * length / mean length, both in terms; ln natural logarithm",
    "sum": "over the terms of the query that the passage has, a term that the query repeats each time anew",
    "mean length": "over all passages, those without a term included",
    "unknown terms": "a term of the query that no passage has adds nothing in any variant",
    "delta": "used by bm25+ and bm25l only",
    "robertson": "a term in more than half of the passages has idf 0, never a negative one: such a posting scores exactly 0, and a passage whose score is 0 is still listed here",
    "atire": "a term in all passages has idf 0",
    "whole": "score = sum over the whole query, terms that the passage lacks at tf = 0, which is idf * delta for bm25+ and idf * (k1 + 1) * delta / (k1 + delta) for bm25l; all passages, in order",
}
FORMULAS = {
    "lucene": "ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * L)",
    "robertson": "ln(max(1, (N - df + 0.5) / (df + 0.5))) * tf / (tf + k1 * L)",
    "atire": "ln(N / df) * (k1 + 1) * tf / (tf + k1 * L)",
    "bm25+": "ln((N + 1) / df) * ((k1 + 1) * tf / (tf + k1 * L) + delta)",
    "bm25l": "ln((N + 1) / (df + 0.5)) * (k1 + 1) * (tf / L + delta) / (k1 + tf / L + delta)",
}


def by_formula(variant, n, df, tf, norm, k1, delta):
    saturated = tf / (tf + k1 * norm)
    odds = (n - df + 0.5) / (df + 0.5)
    c = tf / norm + delta
    return {
        "lucene": lambda: math.log(1 + odds) * saturated,
        "robertson": lambda: math.log(max(1, odds)) * saturated,
        "atire": lambda: math.log(n / df) * (k1 + 1) * saturated,
        "bm25+": lambda: math.log((n + 1) / df) * ((k1 + 1) * saturated + delta),
        "bm25l": lambda: math.log((n + 1) / (df + 0.5)) * (k1 + 1) * c / (k1 + c),
    }[variant]()


def weights(retriever):
    """{(term, position): weight of the posting}, nonoccurrence added back."""
    data, rows, starts = (retriever.scores[name] for name in ("data", "indices", "indptr"))
    lacking = retriever.nonoccurrence_array
    return {
        (term, int(rows[at])): float(data[at] + (0 if lacking is None else lacking[column]))
        for term, column in retriever.vocab_dict.items()
        if column < len(starts) - 1
        for at in range(starts[column], starts[column + 1])
    }


def check(found, variant, passages, k1, b, delta):
    counts = [Counter(terms) for terms in passages]
    df = Counter(term for count in counts for term in count)
    mean = sum(map(len, passages)) / len(passages)
    expected = {
        (term, i): by_formula(variant, len(passages), df[term], tf, 1 - b + b * len(passages[i]) / mean, k1, delta)
        for i, count in enumerate(counts)
        for term, tf in count.items()
    }
    # scipy's matrix keeps explicit zeros, so robertson's postings without weight are there too.
    assert found.keys() == expected.keys(), (variant, len(found), len(expected))
    worst = max(abs(found[key] - expected[key]) for key in expected)
    assert worst < 1e-12, (variant, worst)


def score(variant, dump, setting):
    passages = [passage["terms"] for passage in dump["passages"]]
    retriever = bm25s.BM25(method=variant, dtype="float64", **setting)
    retriever.index(passages, show_progress=False)
    found = weights(retriever)
    check(found, variant, passages, **setting)
    for query in dump["queries"]:
        known = [term for term in query["terms"] if any(term in terms for terms in passages)]
        matching = {}
        for term in known:
            for i in range(len(passages)):
                if (term, i) in found:
                    matching[i] = matching.get(i, 0.0) + found[term, i]
        whole = retriever.get_scores(known)
        row = {"matching": [[i, matching[i]] for i in sorted(matching)]}
        if retriever.nonoccurrence_array is not None:
            row["whole"] = [float(value) for value in whole]
        else:
            dense = np.array([matching.get(i, 0.0) for i in range(len(passages))])
            assert np.abs(dense - whole).max() < 1e-12
        yield row


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        dump = json.load(file)
    out = {
        "tool": ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("bm25s", "numpy")),
        "scripts": ["test/golden/bm25-variants.mjs", "test/golden/bm25-variants.py"],
        "tolerance": 1e-9,
        "notes": NOTES,
        "formulas": FORMULAS,
        "passages": dump["passages"],
        "queries": dump["queries"],
        "scores": [
            {"variant": variant, **setting, "queries": list(score(variant, dump, setting))}
            for variant in FORMULAS
            for setting in SETTINGS
        ],
    }
    json.dump(out, sys.stdout)
    print()


main()
