"""What the Python contenders share: versions, threads, and turns told line by line on stdin."""

import importlib.metadata
import json
import os
import sys
import time

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def settings():
    return json.loads(sys.argv[1])


def missing(error):
    print(f"{error}: pip install -r bench/training/requirements.txt", file=sys.stderr)
    sys.exit(3)


def versions(*packages):
    python = ".".join(map(str, sys.version_info[:3]))
    found = (f"{name} {importlib.metadata.version(name)}" for name in packages)
    return ", ".join([*found, f"Python {python}"])


def say(line):
    print(json.dumps(line), flush=True)


class Clock:
    """Seconds on the wall and of the processor, of all this process's threads, by unit of work."""

    def __init__(self):
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def seconds(self, times=1):
        wall, processor = time.perf_counter() - self.wall, time.process_time() - self.processor
        return {"seconds": wall / times, "processorSeconds": processor / times}


def play(ready, turn):
    """Says that it is ready; then `turn(request)` `request["times"]` times for every line, until there is no more."""
    say(ready)
    for line in sys.stdin:
        request = json.loads(line)
        times = request.get("times", 1)
        clock = Clock()
        more = None
        for _ in range(times):
            more = turn(request)
        say({**clock.seconds(times), **(more or {})})
