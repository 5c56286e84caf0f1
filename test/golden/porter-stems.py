"""Writes porter-stems.json: stems by PyStemmer (Snowball's "porter") of a seeded sample of English Wikipedia's words.

    python -m venv ENV && ENV/bin/pip install PyStemmer==3.1.0
    ENV/bin/python test/golden/porter-stems.py ../shared/data/enwiki/docs.jsonl.gz > test/golden/porter-stems.json

Left out are words where Snowball and Lucene differ by design: shorter than three letters; -bly/-bli and -logy/-logi
(Lucene shortens both); doubled h, j, k, q, v, w, x before -ed or -ing (Snowball undoubles other letters only).
"""

import gzip
import importlib.metadata
import json
import random
import re
import sys

import Stemmer

SEED = 20240607
COUNT = 1500
DIFFER = re.compile(r"(bl|log)(y|i|ies|is)$|(hh|jj|kk|qq|vv|ww|xx)(ed|ing)$")

words = set()
with gzip.open(sys.argv[1], "rt", encoding="utf-8") as lines:
    for line in lines:
        words.update(re.findall(r"[a-z]{3,20}", json.loads(line)["text"].lower()))
kept = sorted(word for word in words if not DIFFER.search(word))
sample = sorted(random.Random(SEED).sample(kept, COUNT))
stemmer = Stemmer.Stemmer("porter")
json.dump(
    {
        "tool": f"PyStemmer {importlib.metadata.version('PyStemmer')}, algorithm porter",
        "script": "test/golden/porter-stems.py",
        "seed": SEED,
        "words": len(kept),
        "stems": dict(zip(sample, stemmer.stemWords(sample))),
    },
    sys.stdout,
    indent=0,
)
print()
