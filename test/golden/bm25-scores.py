"""Writes bm25-scores.json: hits and scores by bm25s, and retrieval metrics of its rankings by pytrec_eval.

    python -m venv ENV && ENV/bin/pip install bm25s==0.3.16 numpy==2.4.6 pytrec_eval-terrier==0.5.11
    node test/golden/bm25-terms.mjs ../shared/data TERMS.json
    ENV/bin/python test/golden/bm25-scores.py TERMS.json > test/golden/bm25-scores.json

bm25s gets our terms (method "lucene", k1 .9, b .4, float64). Stored are the ten best of a seeded sample of queries as
[position in the corpus, score]; ties (to 1e-9) are ordered by position, as we do. Metrics are means over all judged
queries; the run given to pytrec_eval has one distinct score per rank, so that it does not reorder ties.
"""

import importlib.metadata
import json
import random
import sys

import bm25s
import numpy as np
import pytrec_eval

SEED = 20240607
SAMPLE = 120
K1, B = 0.9, 0.4


def rank(terms, depth):
    retriever = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    retriever.index(terms["passages"], show_progress=False)
    known = retriever.vocab_dict
    for query in terms["queries"]:
        ours = [term for term in query["terms"] if term in known]
        scores = retriever.get_scores(ours) if ours else np.zeros(len(terms["passages"]))
        order = sorted(np.flatnonzero(scores > 0), key=lambda i: (-round(scores[i], 9), i))
        yield query["id"], [[int(i), float(scores[i])] for i in order[:depth]]


def metrics(terms, rankings):
    run = {
        query: {terms["ids"][position]: float(-place) for place, (position, _) in enumerate(hits)}
        for query, hits in rankings.items()
        if query in terms["qrels"]
    }
    measured = pytrec_eval.RelevanceEvaluator(terms["qrels"], {"ndcg_cut.10", "recall.10,100"}).evaluate(run)
    names = {"ndcg@10": "ndcg_cut_10", "recall@10": "recall_10", "recall@100": "recall_100"}
    return {ours: float(np.mean([m[theirs] for m in measured.values()])) for ours, theirs in names.items()}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        dump = json.load(file)
    out = {
        "tool": ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("bm25s", "numpy", "pytrec_eval-terrier")),
        "scripts": ["test/golden/bm25-terms.mjs", "test/golden/bm25-scores.py"],
        "seed": SEED,
        "tolerance": 1e-5,
        "k1": K1,
        "b": B,
    }
    for name, terms in dump.items():
        rankings = dict(rank(terms, 100))
        sample = sorted(random.Random(SEED).sample(sorted(rankings), SAMPLE))
        out[name] = {
            "passages": len(terms["passages"]),
            "terms": sum(map(len, terms["passages"])),
            "hits": {query: [[p, round(s, 7)] for p, s in rankings[query][:10]] for query in sample},
        }
        if "qrels" in terms:
            out[name]["metrics"] = metrics(terms, rankings)
        if len(sys.argv) > 2:
            with open(f"{sys.argv[2]}-{name}.json", "w", encoding="utf-8") as file:
                json.dump({query: hits[:10] for query, hits in rankings.items()}, file)
    json.dump(out, sys.stdout)
    print()


main()
