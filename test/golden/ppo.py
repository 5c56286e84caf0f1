"""GAE over four axes, the value loss and the KL controller, by verl's and RAGEN's own functions.

  python test/golden/ppo.py FOLDER FILE     (torch, numpy; FOLDER: verl's unpacked wheel; FILE: RAGEN's ragen/trainer/core_algos.py)

Writes ppo.json beside this file. Recorded with the versions in it; RAGEN's at the commit in it.
"""

import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

import numpy as np
import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 5
RAGEN_COMMIT = "5eb79b82cecc31db5662ba3c96b752405692410b"
torch.set_default_dtype(torch.float64)

masked = functions("utils/torch_functional.py", ["masked_sum", "masked_mean", "masked_var", "masked_whiten", "clip_by_value"], {"torch": torch})
core = "trainer/ppo/core_algos.py"
scope = {"torch": torch, "Optional": Optional, "verl_F": masked}
verl = functions(core, ["compute_gae_advantage_return", "agg_loss", "compute_value_loss"], scope)
controllers = functions(core, ["AdaptiveKLController"], {"np": np})
ragen_file = Path(sys.argv[2])
ragen = functions(str(ragen_file.absolute()), ["compute_bi_level_gae_advantage_return"], {"torch": torch, "verl_F": masked})

rng = random.Random(SEED)


def trajectory():
    """Turns of policy tokens with an observation between them; a reward at the end of each turn but never 0, as RAGEN finds turns by it."""
    turns = rng.randint(1, 3)
    owners, rewards = [], []
    for turn in range(turns):
        written = rng.randint(1, 4)
        owners += ["policy"] * written
        rewards += [0.0] * (written - 1) + [round(rng.uniform(0.1, 1), 3)]
        if turn < turns - 1:
            owners += ["environment"] * rng.randint(1, 3)
            rewards += [0.0] * (len(owners) - len(rewards))
    return {"owners": owners, "rewards": rewards, "values": [round(rng.uniform(-1, 1), 3) for _ in owners]}


cases = []
for axis, gamma, lam, turn_gamma in [
    ("policy-tokens", 1, 1, 1),
    ("policy-tokens", 0.99, 0.95, 1),
    ("all-tokens", 1, 1, 1),
    ("all-tokens", 0.97, 0.9, 1),
    ("turns-then-tokens", 1, 1, 0.95),
    ("turns-then-tokens", 0.98, 0.9, 0.95),
]:
    batch = [trajectory() for _ in range(6)]
    length = max(len(each["owners"]) for each in batch)
    padded = lambda key: torch.tensor([each[key] + [0.0] * (length - len(each[key])) for each in batch])
    everything = torch.tensor([[float(t < len(each["owners"])) for t in range(length)] for each in batch])
    policys = torch.tensor([[float(t < len(each["owners"]) and each["owners"][t] == "policy") for t in range(length)] for each in batch])
    mask = everything if axis == "all-tokens" else policys
    if axis == "turns-then-tokens":
        advantages, returns = ragen.compute_bi_level_gae_advantage_return(padded("rewards"), padded("values"), policys, gamma, lam, turn_gamma)
    else:
        advantages, returns = verl.compute_gae_advantage_return(padded("rewards"), padded("values"), mask, gamma, lam)
    for i, each in enumerate(batch):
        n = len(each["owners"])
        each["advantages"], each["returns"], each["onAxis"] = advantages[i, :n].tolist(), returns[i, :n].tolist(), mask[i, :n].tolist()
    cases.append({"options": {"timeAxis": axis, "gamma": gamma, "lambda": lam, "turnGamma": turn_gamma}, "batch": batch})

value_losses = []
for clip in [0.5, 0.2, 0.05]:
    old = [round(rng.uniform(-1, 1), 4) for _ in range(8)]
    values = [round(each + rng.uniform(-0.6, 0.6), 4) for each in old]
    returns = [round(rng.uniform(-1, 1), 4) for _ in range(8)]
    predicted = torch.tensor([values], requires_grad=True)
    loss, clipped = verl.compute_value_loss(predicted, torch.tensor([returns]), torch.tensor([old]), torch.ones(1, 8), clip)
    loss.backward()
    value_losses.append(
        {
            **{"clip": clip, "values": values, "oldValues": old, "returns": returns},
            **{"loss": loss.item(), "gradient": predicted.grad[0].tolist(), "clipFraction": clipped.item()},
        }
    )

controller = controllers.AdaptiveKLController(0.1, 0.2, 10000)
steps = []
for _ in range(12):
    kl, count = round(rng.uniform(0, 0.6), 4), rng.randint(16, 512)
    controller.update(kl, count)
    steps.append({"kl": kl, "trajectories": count, "coef": controller.value})

made = {"verl": version(), "ragen": RAGEN_COMMIT, "torch": torch.__version__, "numpy": np.__version__, "seed": SEED}
content = {"made": made, "gae": cases, "valueLosses": value_losses, "klController": {"coef": 0.1, "target": 0.2, "horizon": 10000, "steps": steps}}
(HERE / "ppo.json").write_text(json.dumps(content, indent=1) + "\n")
