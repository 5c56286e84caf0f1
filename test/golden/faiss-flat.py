"""Writes faiss-flat.json: flat indexes as faiss.write_index writes them, and what they find for queries.

Run: python test/golden/faiss-flat.py [VECTORS QUERIES DIMENSIONS FILE], with faiss-cpu and numpy; their versions stand in the JSON.
10000 1000 768 FILE writes a larger one; AGENTRL_TEST_FAISS=FILE npx vitest run test/golden/faiss-flat.test.ts compares with it.
"""

import base64
import json
import sys
from pathlib import Path

import faiss
import numpy as np

SEED = 20251128
HITS = 5
count, asked, dimensions = (int(x) for x in (sys.argv[1:4] or (300, 40, 20)))
target = Path(sys.argv[4]) if len(sys.argv) > 4 else Path(__file__).with_suffix(".json")

draw = np.random.default_rng(SEED)
vectors = draw.standard_normal((count, dimensions), dtype=np.float32)
# Of several lengths: nearest by distance are then not nearest by inner product.
vectors *= draw.uniform(0.5, 2, (count, 1)).astype(np.float32)
queries = draw.standard_normal((asked, dimensions), dtype=np.float32)


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def written(index: faiss.Index) -> bytes:
    return faiss.serialize_index(index).tobytes()


def flat(kind, ids=None, around=None):
    """A file with the vectors left out (they are the same in all), and the first hits of each query."""
    index = kind(dimensions)
    if around is None:
        index.add(vectors)
    else:
        index = around(index)
        index.add_with_ids(vectors, ids)
    data, body = written(index), vectors.tobytes()
    at = data.index(body)
    assert data.count(body) == 1
    scores, found = index.search(queries, HITS)
    return {
        "before": text(data[:at]),
        "after": text(data[at + len(body) :]),
        "positions": found.tolist(),
        "scores": [[float(f"{x:.8g}") for x in row] for row in scores.tolist()],
    }


positions = np.arange(count)
files = {
    "IndexFlatIP": flat(faiss.IndexFlatIP),
    "IndexFlatL2": flat(faiss.IndexFlatL2),
    "IndexIDMap of IndexFlatIP": flat(faiss.IndexFlatIP, positions, faiss.IndexIDMap),
    "IndexIDMap2 of IndexFlatL2": flat(faiss.IndexFlatL2, positions, faiss.IndexIDMap2),
}
shifted = flat(faiss.IndexFlatIP, positions + 1, faiss.IndexIDMap)

KINDS = [
    "HNSW16", "HNSW16_PQ4", "HNSW16_SQ8", "NSG16,Flat", "IVF4,Flat", "IVF4,PQ4x4", "IVF4,SQ8", "IVF4,PQ4x4fs", "IVF4,RQ2x4",
    "PQ4x4", "PQ4x4fs", "SQ8", "SQfp16", "LSH", "RQ2x4", "LSQ2x4", "RaBitQ", "PCA4,Flat", "L2norm,Flat", "Flat,RFlat", "IDMap,HNSW16",
]  # fmt: skip
train = draw.standard_normal((700, 16), dtype=np.float32)
others = []
for kind in KINDS:
    index = faiss.index_factory(16, kind)
    index.train(train)
    others.append({"kind": kind, "start": text(written(index)[:96])})
l1 = faiss.IndexFlat(16, faiss.METRIC_L1)
l1.add(train[:3])
binary = faiss.IndexBinaryFlat(16)
others.append({"kind": "binary", "start": text(faiss.serialize_index_binary(binary).tobytes()[:96])})

golden = {
    "faiss": faiss.__version__,
    "numpy": np.__version__,
    "seed": SEED,
    "script": "test/golden/faiss-flat.py",
    "count": count,
    "dimensions": dimensions,
    "vectors": text(vectors.tobytes()),
    "queries": text(queries.tobytes()),
    "files": files,
    "shifted": {key: shifted[key] for key in ("before", "after")},
    "l1": text(written(l1)),
    "others": others,
}
target.write_text(json.dumps(golden) + "\n")
