"""What the Python contenders share: reading the corpus, asking in a circle, memory, the one JSON line."""

import importlib.metadata
import json
import sys
import time

K = 10
COMPARED = 300


def settings():
    return json.loads(sys.argv[1])


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def searched_text(passage):
    return f"{passage['title']} {passage['text']}"


def versions(*packages):
    python = ".".join(map(str, sys.version_info[:3]))
    return ", ".join([*(f"{name} {importlib.metadata.version(name)}" for name in packages), f"Python {python}"])


def memory_mb(field):
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            line = next(line for line in file if line.startswith(field))
        return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1e6 if sys.platform == "darwin" else 1e3)


class Stages:
    """Processor seconds by name of stage: other work on the machine changes them least."""

    def __init__(self):
        self.seconds = {}

    def timed(self, name, work):
        start = time.process_time()
        result = work()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start
        return result


def ask(search_all, queries, seconds):
    """Queries a processor second of passes over all queries, after one warm-up pass; `search_all` returns the ids of each query's hits."""
    hits = search_all(queries)
    end = time.perf_counter() + seconds
    start = time.process_time()
    asked = 0
    while time.perf_counter() < end:
        search_all(queries)
        asked += len(queries)
    return {"queriesPerSecond": asked / (time.process_time() - start), "hits": hits[:COMPARED]}


def report(stages, asked, **more):
    out = {
        "buildSeconds": sum(stages.seconds.values()),
        "stages": stages.seconds,
        **asked,
        "residentMb": memory_mb("VmRSS"),
        "peakMb": memory_mb("VmHWM"),
        **more,
    }
    print(json.dumps(out))
