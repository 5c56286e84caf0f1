"""Writes tf-idf.json: cosines of TF-IDF vectors by scikit-learn, fitted on a text and the texts that it is compared with.

    python -m venv ENV && ENV/bin/pip install scikit-learn==1.9.1
    ENV/bin/python test/golden/tf-idf.py > test/golden/tf-idf.json
"""

import importlib.metadata
import json
import sys

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

# Already as the squad normalisation leaves them, which scikit-learn does not have.
CASES = [
    ["rain snow", ["snow wind"]],
    ["city of rain in bergen x", ["bergen is city city in norway", "grieg was composer from bergen"]],
    ["oslo is capital of norway", ["oslo is capital of norway", "lima is capital of peru", "kon tiki"]],
    ["1924 olympic games", ["games of 1924 1924", "über été games"]],
]

cases = []
for text, others in CASES:
    matrix = TfidfVectorizer().fit_transform([text, *others])
    cosines = cosine_similarity(matrix[0], matrix[1:]).flatten().tolist()
    cases.append({"text": text, "others": others, "cosines": cosines})
json.dump(
    {"tool": f"scikit-learn {importlib.metadata.version('scikit-learn')}", "script": "test/golden/tf-idf.py", "cases": cases},
    sys.stdout,
    indent=1,
    ensure_ascii=False,
)
print()
