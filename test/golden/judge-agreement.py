"""Writes judge-agreement.json: agreement of string metrics with the human verdicts of EvOUNA (TriviaQA), and Cohen's kappa
of made-up verdicts, by scikit-learn and statsmodels. The metrics are computed here anew, by the definitions of SQuAD v1.1,
HotpotQA and R1-Searcher.

    python -m venv ENV && ENV/bin/pip install scikit-learn==1.9.1 statsmodels==0.15.0
    ENV/bin/python test/golden/judge-agreement.py evouna-triviaqa.json > test/golden/judge-agreement.json
"""

import collections
import hashlib
import importlib.metadata
import json
import random
import re
import string
import sys

from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix
from statsmodels.stats.proportion import proportion_confint

SEED = 20261121
SYSTEMS = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"]
PUNCTUATION = set(string.punctuation)


def squad(text):
    bare = "".join(c for c in text.lower() if c not in PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def spelled_apart(text):
    text = {"True": "yes", "False": "no"}.get(text, text).lower()
    marks = PUNCTUATION | set("‘’´")
    bare = "".join(" " if c in marks else c for c in text)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def f1(prediction, reference):
    left, right = squad(prediction), squad(reference)
    closed = {"yes", "no", "noanswer"}
    if left != right and (left in closed or right in closed):
        return 0.0
    a, b = left.split(), right.split()
    shared = sum((collections.Counter(a) & collections.Counter(b)).values())
    if shared == 0:
        return 0.0
    return 2 * shared / (len(a) + len(b))


def contains(prediction, reference):
    reference = squad(reference)
    return squad(prediction) == "" if reference == "" else reference in squad(prediction)


def all_words(prediction, reference):
    # An empty text is one empty word, as in splitting by a single space.
    return set(spelled_apart(reference).split(" ")) <= set(spelled_apart(prediction).split(" "))


RULES = {
    "em": lambda p, r: squad(p) == squad(r),
    "f1>=0.5": lambda p, r: f1(p, r) >= 0.5,
    "cover_em": contains,
    "token_cover": all_words,
}


def measured(human, given):
    wrong_accepted = confusion_matrix(human, given, labels=[False, True])
    (tn, fp), (fn, tp) = wrong_accepted.tolist()
    return {
        "n": len(human),
        "accuracy": float(accuracy_score(human, given)),
        "accuracyCi95": [float(x) for x in proportion_confint(tn + tp, len(human), method="wilson")],
        "kappa": float(cohen_kappa_score(human, given)),
        "falseAccept": [fp, fp + tn],
        "falseReject": [fn, fn + tp],
    }


def evouna(path):
    raw = open(path, "rb").read()
    rows = [row for row in json.loads(raw) if not row["improper"]]
    result = {"sha256": hashlib.sha256(raw).hexdigest(), "rules": {}}
    for name, rule in RULES.items():
        per = {}
        everything = ([], [])
        for system in SYSTEMS:
            human = [row["judge_" + system] for row in rows]
            given = []
            for row in rows:
                parts = [p.strip() for p in row["golden_answer"].split("/") if p.strip()]
                references = [row["golden_answer"], *parts]
                given.append(any(rule(row["answer_" + system], r) for r in references))
            per[system] = measured(human, given)
            everything[0].extend(human)
            everything[1].extend(given)
        per["all"] = measured(*everything)
        del per["all"]["accuracyCi95"]
        result["rules"][name] = per
    return result


def made_up():
    draw = random.Random(SEED)
    tables = []
    for n in (5, 12, 40, 200):
        for share in (0.1, 0.5, 0.9):
            human = [draw.random() < share for _ in range(n)] + [True, False]
            given = [h if draw.random() < 0.8 else not h for h in human]
            tables.append(
                {
                    "human": "".join("01"[h] for h in human),
                    "given": "".join("01"[g] for g in given),
                    "kappa": float(cohen_kappa_score(human, given)),
                }
            )
    return tables


json.dump(
    {
        "tool": {name: importlib.metadata.version(name) for name in ("scikit-learn", "statsmodels")},
        "script": "test/golden/judge-agreement.py",
        "seed": SEED,
        "tolerance": 1e-12,
        "evouna": evouna(sys.argv[1]),
        "madeUp": made_up(),
    },
    sys.stdout,
    indent=1,
)
print()
