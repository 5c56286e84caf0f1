"""hnswlib over the graph file that was built, one thread. Prints one JSON line; exit status 3 without the package.

All queries are given in one call, which spares it Python's cost for each.
"""

import json
import sys
import time

try:
    import hnswlib
    import numpy
except ImportError as error:
    print(f"{error}: pip install -r bench/requirements.txt", file=sys.stderr)
    sys.exit(3)


def main():
    given = json.loads(sys.argv[1])
    dimensions = given["dimensions"]
    queries = numpy.fromfile(given["queries"], numpy.float32).reshape(-1, dimensions)
    begin = time.perf_counter()
    index = hnswlib.Index("ip", dimensions)
    index.load_index(given["path"])
    index.set_ef(given["entry"]["efSearch"])
    open_seconds = time.perf_counter() - begin
    best = float("inf")
    for _ in range(given["rounds"]):
        begin = time.process_time()
        labels, _ = index.knn_query(queries, k=given["k"], num_threads=1)
        best = min(best, time.process_time() - begin)
    found = labels.astype(int).tolist()
    print(json.dumps({"perSecond": len(queries) / best, "openSeconds": open_seconds, "found": found}))


main()
