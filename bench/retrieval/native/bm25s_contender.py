"""bm25s with numba: Lucene's formula, k1 .9, b .4. Prints one JSON line; exit status 3 where a package is missing.

track "terms": the passages are our analyzer's terms, split at blanks before the clock of "index" starts.
track "text": its own tokenizer with English stop words and PyStemmer's English stemmer, counted for passages and queries.
"""

import os
import sys
import tempfile

os.environ["DISABLE_TQDM"] = "1"

from common import K, Stages, ask, read_lines, report, searched_text, settings, versions

try:
    import bm25s
    import numba  # noqa: F401 (what makes it a contender)
    import Stemmer
except ImportError as error:
    print(f"{error}: pip install -r bench/requirements.txt", file=sys.stderr)
    sys.exit(3)


def main():
    given = settings()
    own = given["track"] == "text"
    stemmer = Stemmer.Stemmer("english")

    def tokenize(texts):
        if own:
            return bm25s.tokenize(
                texts, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
            )
        return [text.split() for text in texts]

    # Compiling is no part of a build or a search: a small index first, with the same types.
    warm = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    warm.compile(warmup=True)
    warm.index([["a", "b"], ["b", "c"], *[["c"]] * K], show_progress=False)
    warm.retrieve([["a", "b"]], k=K, show_progress=False, n_threads=1)

    stages = Stages()
    passages = stages.timed("read", lambda: read_lines(given["corpus"]))
    ids = [passage["id"] for passage in passages]
    texts = [searched_text(passage) for passage in passages]
    del passages
    tokens = stages.timed("tokenize", lambda: tokenize(texts))
    retriever = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    retriever.compile(warmup=True)
    stages.timed("index", lambda: retriever.index(tokens, show_progress=False))
    with tempfile.TemporaryDirectory() as folder:
        stages.timed("save", lambda: retriever.save(folder, show_progress=False))
    del tokens, texts

    queries = read_lines(given["questions"])

    def search_all(asked):
        found, _ = retriever.retrieve(tokenize(asked), k=K, show_progress=False, n_threads=1)
        return [[ids[position] for position in row] for row in found.tolist()]

    asked = ask(search_all, queries, given["seconds"])
    report(stages, asked, version=versions("bm25s", "numba", "numpy", "PyStemmer"))


main()
