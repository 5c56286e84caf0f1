"""Writes snowball-stems.json: stems by PyStemmer (Snowball 2.2) of a seeded sample of each language's frequent words.

    python -m venv ENV && ENV/bin/pip install PyStemmer==2.2.0.3 wordfreq==3.1.1
    ENV/bin/python test/golden/snowball-stems.py > test/golden/snowball-stems.json

Words: wordfreq's 20 000 most frequent of each language (its data: CC BY-SA 4.0), those of letters and marks only.
"""

import importlib.metadata
import json
import random
import sys
import unicodedata

import Stemmer
import wordfreq

SEED = 20240607
COUNT = 200
LANGUAGES = {
    "arabic": "ar", "danish": "da", "dutch": "nl", "finnish": "fi", "french": "fr", "german": "de", "italian": "it",
    "norwegian": "nb", "portuguese": "pt", "russian": "ru", "spanish": "es", "swedish": "sv", "turkish": "tr",
}

stems = {}
for name, code in LANGUAGES.items():
    words = [
        word
        for word in wordfreq.top_n_list(code, 20000)
        if len(word) > 2 and all(unicodedata.category(c)[0] in "LM" for c in word)
    ]
    sample = sorted(random.Random(SEED).sample(words, COUNT))
    stems[name] = dict(zip(sample, Stemmer.Stemmer(name).stemWords(sample)))
json.dump(
    {
        "tool": f"PyStemmer {importlib.metadata.version('PyStemmer')}",
        "words": f"wordfreq {importlib.metadata.version('wordfreq')}",
        "script": "test/golden/snowball-stems.py",
        "seed": SEED,
        "stems": stems,
    },
    sys.stdout,
    ensure_ascii=False,
    indent=0,
)
print()
