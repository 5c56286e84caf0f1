"""verl's custom reward function: the recipe's rewards, from the messages that search_loop.py recorded."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scoring import score  # noqa: E402


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """`score` and every reward by name, which verl logs."""
    extra = extra_info or {}
    return score(list(extra["messages"]), list(ground_truth["target"]), extra.get("prompt_text", ""))
