"""Writes retrieval-metrics.json: metrics of runs by pytrec_eval (trec_eval's own code).

    python -m venv ENV && ENV/bin/pip install pytrec_eval-terrier==0.5.11
    agentrl index build ../shared/data/scifact/corpus.jsonl.gz --out IDX
    agentrl eval retrieval --index IDX --queries ../shared/data/scifact/queries.tsv \\
        --qrels ../shared/data/scifact/qrels.txt --depth 1000 --run-out RUN
    ENV/bin/python test/golden/retrieval-metrics.py RUN ../shared/data/scifact/qrels.txt > test/golden/retrieval-metrics.json

"made": seeded runs with graded judgements (0 to 3), scores with many ties and some that only differ beyond a 32-bit
float, one query without hits; per query. "scifact": means over all queries of our run as `--run-out` writes it.
"""

import importlib.metadata
import json
import random
import sys

import pytrec_eval

SEED = 20240607
NAMES = {
    "ndcg": "ndcg",
    "ndcg@1": "ndcg_cut_1",
    "ndcg@10": "ndcg_cut_10",
    "ndcg@30": "ndcg_cut_30",
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "precision@5": "P_5",
    "precision@100": "P_100",
    "map": "map",
    "map@10": "map_cut_10",
    "mrr": "recip_rank",
    "hit@1": "success_1",
    "hit@5": "success_5",
    "rprec": "Rprec",
}
MEASURES = {
    "ndcg", "ndcg_cut.1,10,30", "recall.5,10,100", "P.5,100", "map", "map_cut.10", "recip_rank", "success.1,5", "Rprec",
}  # fmt: skip


def ours(measured):
    return {name: measured[theirs] for name, theirs in NAMES.items()}


def made():
    draw = random.Random(SEED)
    qrels, run = {}, {}
    for query in (f"q{i}" for i in range(12)):
        passages = [f"d{i}" for i in range(120)]
        judged = draw.sample(passages, draw.randint(1, 30))
        qrels[query] = {passage: draw.choice([0, 1, 1, 2, 3]) for passage in judged}
        qrels[query][judged[0]] = 1
        hits = draw.sample(passages, draw.randint(3, 50))
        run[query] = {passage: draw.randint(0, 12) / 4 + draw.choice([0, 0, 1e-9]) for passage in hits}
    run["q0"] = {"unjudged": 1.0}
    return qrels, run


def evaluated(qrels, run):
    return pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)


def main():
    qrels, run = made()
    with open(sys.argv[1], encoding="utf-8") as file:
        scifact_run = pytrec_eval.parse_run(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        scifact = evaluated(pytrec_eval.parse_qrel(file), scifact_run)
    means = {theirs: sum(m[theirs] for m in scifact.values()) / len(scifact) for theirs in NAMES.values()}
    out = {
        "tool": f"pytrec_eval-terrier {importlib.metadata.version('pytrec_eval-terrier')}",
        "script": "test/golden/retrieval-metrics.py",
        "seed": SEED,
        "tolerance": 1e-12,
        "made": {
            "qrels": qrels,
            "run": run,
            "metrics": {query: ours(measured) for query, measured in evaluated(qrels, run).items()},
        },
        "scifact": {"n": len(scifact), "metrics": ours(means)},
    }
    json.dump(out, sys.stdout)
    print()


main()
