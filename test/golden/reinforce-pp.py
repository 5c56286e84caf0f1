"""Advantages of REINFORCE++ and of its baseline form, by verl's own functions.

  python test/golden/reinforce-pp.py FOLDER     (torch; FOLDER: verl's unpacked wheel; recorded with the versions in reinforce-pp.json)

Writes reinforce-pp.json beside this file. The functions are taken out of verl's files, because importing verl needs Ray and vLLM.
"""

import ast
import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import torch

HERE = Path(__file__).parent
VERL = Path(sys.argv[1])
SEED = 7
torch.set_default_dtype(torch.float64)


def functions(file, names, scope):
    """Executes the named functions of a file, without their decorators, and returns them in a namespace."""
    tree = ast.parse((VERL / "verl" / file).read_text())
    chosen = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    for node in chosen:
        node.decorator_list = []
    exec(compile(ast.Module(chosen, []), file, "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in names})


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

made = {"verl": next(VERL.glob("verl-*.dist-info")).name.removeprefix("verl-").removesuffix(".dist-info"), "torch": torch.__version__, "seed": SEED}
(HERE / "reinforce-pp.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
