"""Tantivy: its BM25 (k1 1.2, b .75, lengths in one byte), one writer thread. Prints one JSON line; exit status 3 without the package.

track "terms": our analyzer's terms, split at blanks. track "text": its English analyzer (`en_stem`).
The passages' text is not stored, only the id; every hit's id is read.
"""

import os
import re
import sys
import tempfile

from common import K, Stages, ask, read_lines, report, searched_text, settings, versions

try:
    import tantivy
except ImportError as error:
    print(f"{error}: pip install -r bench/requirements.txt", file=sys.stderr)
    sys.exit(3)


def main():
    given = settings()
    own = given["track"] == "text"
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    tokenizer = "en_stem" if own else "whitespace"
    builder.add_text_field("text", stored=False, tokenizer_name=tokenizer, index_option="freq")
    schema = builder.build()
    stages = Stages()
    passages = stages.timed("read", lambda: read_lines(given["corpus"]))
    with tempfile.TemporaryDirectory() as folder:
        index = tantivy.Index(schema, path=folder)
        stages.timed("index", lambda: add_all(index, passages))
        del passages
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
        searcher = index.searcher()

        def search(query):
            # A question is words, no query language: signs and capitals, which could be operators, go.
            words = re.sub(r"\W+", " ", query).lower() if own else query
            parsed = index.parse_query(words, ["text"])
            hits = searcher.search(parsed, K, count=False).hits
            return [searcher.doc(address)["id"][0] for _, address in hits]

        queries = read_lines(given["questions"])
        asked = ask(lambda all_queries: [search(query) for query in all_queries], queries, given["seconds"])
        segments = searcher.num_segments
    report(stages, asked, version=versions("tantivy"), bytesOnDisk=size, segments=segments)


def add_all(index, passages):
    writer = index.writer(heap_size=512_000_000, num_threads=1)
    for passage in passages:
        writer.add_document(tantivy.Document(id=passage["id"], text=searched_text(passage)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()


main()
