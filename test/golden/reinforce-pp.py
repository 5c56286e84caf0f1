"""Advantages of REINFORCE++ and of its baseline form, by verl's own functions.

  python test/golden/reinforce-pp.py FOLDER     (torch; FOLDER: verl's unpacked wheel; recorded with the versions in reinforce-pp.json)

Writes reinforce-pp.json beside this file.
"""

import json
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 7
torch.set_default_dtype(torch.float64)

whiten = functions("utils/torch_functional.py", ["masked_sum", "masked_mean", "masked_var", "masked_whiten"], {"torch": torch})
names = ["compute_reinforce_plus_plus_outcome_advantage", "compute_reinforce_plus_plus_baseline_outcome_advantage"]
scope = {"torch": torch, "defaultdict": defaultdict, "Optional": Optional, "AlgoConfig": object, "verl_F": whiten}
estimators = functions("trainer/ppo/core_algos.py", names, scope)

rng = random.Random(SEED)
cases = []
for baseline in ["none", "group-mean"] * 2:
    trajectories = [
        {"group": f"g{i // 3}", "reward": round(rng.uniform(-1, 1), 3), "tokens": rng.randint(1, 9)} for i in range(12)
    ]
    mask = torch.tensor([[float(t < each["tokens"]) for t in range(9)] for each in trajectories])
    rewards = torch.zeros_like(mask)
    for i, each in enumerate(trajectories):
        rewards[i, each["tokens"] - 1] = each["reward"]
    if baseline == "none":
        advantages, _ = estimators.compute_reinforce_plus_plus_outcome_advantage(rewards, mask, config=SimpleNamespace(gamma=1.0))
    else:
        index = [each["group"] for each in trajectories]
        advantages, _ = estimators.compute_reinforce_plus_plus_baseline_outcome_advantage(rewards, mask, index)
    cases.append({"baseline": baseline, "trajectories": trajectories, "advantages": advantages[:, 0].tolist()})

made = {"verl": version(), "torch": torch.__version__, "seed": SEED}
(HERE / "reinforce-pp.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
