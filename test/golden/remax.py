"""ReMax's advantages, by verl's own function.

  python test/golden/remax.py FOLDER     (torch; FOLDER: verl's unpacked wheel; recorded with the versions in remax.json)

Writes remax.json beside this file.
"""

import json
import random
from pathlib import Path
from typing import Optional

import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 14
LONGEST = 6
torch.set_default_dtype(torch.float64)

scope = {"torch": torch, "Optional": Optional, "AlgoConfig": object}
estimators = functions("trainer/ppo/core_algos.py", ["compute_remax_outcome_advantage"], scope)

rng = random.Random(SEED)
cases = []
for stepwise in [False, True]:
    baselines = [round(rng.uniform(-1, 1), 3) for _ in range(2)]
    trajectories = []
    for i in range(6):
        length = rng.randint(2, LONGEST)
        # A reward at the last token and, step by step, one at an earlier token.
        step = {"token": rng.randint(0, length - 2), "value": round(rng.uniform(-1, 1), 3)} if stepwise else None
        trajectories.append({"group": i // 3, "tokens": length, "outcome": round(rng.uniform(-1, 1), 3), "step": step})
    mask = torch.tensor([[float(t < each["tokens"]) for t in range(LONGEST)] for each in trajectories])
    rewards = torch.zeros_like(mask)
    for i, each in enumerate(trajectories):
        rewards[i, each["tokens"] - 1] = each["outcome"]
        if each["step"]:
            rewards[i, each["step"]["token"]] = each["step"]["value"]
    against = torch.tensor([baselines[each["group"]] for each in trajectories])
    advantages, _ = estimators.compute_remax_outcome_advantage(rewards, against, mask)
    rows = [row[: each["tokens"]].tolist() for row, each in zip(advantages, trajectories)]
    cases.append({"baselines": baselines, "trajectories": trajectories, "advantages": rows})

made = {"verl": version(), "torch": torch.__version__, "seed": SEED}
(HERE / "remax.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
