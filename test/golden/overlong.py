"""DAPO's soft overlong punishment, by TRL's own function.

  python test/golden/overlong.py     (trl; recorded with the version in overlong.json)

Writes overlong.json beside this file.
"""

import json
from pathlib import Path

import trl
from trl.rewards import get_soft_overlong_punishment

HERE = Path(__file__).parent
LENGTHS = {(24, 8): [0, 1, 15, 16, 17, 20, 23, 24, 25, 90], (20480, 4096): [16383, 16384, 16385, 18000, 20479, 20480, 20481, 25000]}

cases = [
    {"longest": longest, "buffer": buffer, "tokens": tokens, "penalty": penalty}
    for (longest, buffer), lengths in LENGTHS.items()
    for tokens, penalty in zip(lengths, get_soft_overlong_punishment(longest, buffer)([[0] * n for n in lengths]))
]
(HERE / "overlong.json").write_text(json.dumps({"made": {"trl": trl.__version__}, "cases": cases}, indent=1) + "\n")
