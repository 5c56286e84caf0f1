"""CISPO's loss and gradient, by verl's own function.

  python test/golden/cispo.py FOLDER     (torch; FOLDER: verl's unpacked wheel; recorded with the versions in cispo.json)

Writes cispo.json beside this file.
"""

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 11
torch.set_default_dtype(torch.float64)

masked = functions("utils/torch_functional.py", ["masked_sum", "masked_mean"], {"torch": torch})
scope = {"torch": torch, "Any": Any, "Optional": Optional, "verl_F": masked, "DictConfig": SimpleNamespace, "ActorConfig": SimpleNamespace}
losses = functions("trainer/ppo/core_algos.py", ["agg_loss", "compute_policy_loss_cispo"], scope)

rng = random.Random(SEED)
cases = []
for low, high in [(0.2, 0.2), (1.0, 0.28), (0.5, 4.0)]:
    draw = lambda a, b: [round(rng.uniform(a, b), 4) for _ in range(8)]
    old, shift, advantages = draw(-3, -0.1), draw(-1.5, 1.5), draw(-2, 2)
    logprobs = [round(a + b, 4) for a, b in zip(old, shift)]
    log_prob = torch.tensor([logprobs], requires_grad=True)
    config = SimpleNamespace(clip_ratio=0.2, clip_ratio_low=low, clip_ratio_high=high, global_batch_info={})
    loss, metrics = losses.compute_policy_loss_cispo(
        torch.tensor([old]), log_prob, torch.tensor([advantages]), torch.ones(1, 8), config=config
    )
    loss.backward()
    cases.append(
        {
            "options": {"clipLow": low, "clipHigh": high},
            **{"oldLogprobs": old, "logprobs": logprobs, "advantages": advantages},
            **{"loss": loss.item(), "gradient": log_prob.grad[0].tolist(), "clipFraction": metrics["actor/pg_clipfrac"]},
        }
    )

made = {"verl": version(), "torch": torch.__version__, "seed": SEED}
(HERE / "cispo.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
