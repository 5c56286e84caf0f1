"""llama.cpp's llama-batched-bench on the same weights: prompts and then new tokens of all sequences together. It draws no tokens."""

import json
import os
import resource
import subprocess
import sys
import tempfile

from player import THREADS, play, settings


def main():
    given = settings()
    sequences, prompt, new = given["sequences"], given["promptTokens"], given["newTokens"]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model.gguf")
        here = os.path.dirname(os.path.abspath(__file__))
        written = subprocess.run([sys.executable, os.path.join(here, "gguf_model.py"), given["folder"], model])
        if written.returncode != 0:
            sys.exit(written.returncode)
        command = [given["program"], "-m", model, "--output-format", "jsonl"]
        command += ["-npp", str(prompt), "-ntg", str(new), "-npl", str(sequences)]
        command += ["-c", str(sequences * (prompt + new)), "-b", "4096", "-ub", "512"]
        command += ["-t", str(THREADS), "-tb", str(THREADS)]

        def turn(_):
            row = None
            # Now and then it ends well without a word.
            while row is None:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                row = next((json.loads(line) for line in told.splitlines() if line.startswith("{")), None)
            return {
                # Without starting the program and reading the model.
                "seconds": row["t_pp"] + row["t_tg"],
                "processorSeconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "decoding": row["speed_tg"],
            }

        try:
            turn({})
        except FileNotFoundError:
            print("llama-batched-bench: not found; see bench/README.md", file=sys.stderr)
            sys.exit(3)
        play({"version": "llama.cpp", "threads": THREADS}, turn)


main()
