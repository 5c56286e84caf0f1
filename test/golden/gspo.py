"""GSPO's loss and gradient, by verl's own function.

  python test/golden/gspo.py FOLDER     (torch; FOLDER: verl's unpacked wheel; recorded with the versions in gspo.json)

Writes gspo.json beside this file.
"""

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 12
LENGTHS = [5, 2, 1]
torch.set_default_dtype(torch.float64)

masked = functions("utils/torch_functional.py", ["masked_sum", "masked_mean"], {"torch": torch})
scope = {"torch": torch, "Any": Any, "Optional": Optional, "verl_F": masked, "DictConfig": SimpleNamespace, "ActorConfig": SimpleNamespace}
losses = functions("trainer/ppo/core_algos.py", ["agg_loss", "compute_policy_loss_gspo"], scope)

rng = random.Random(SEED)
mask = torch.tensor([[1.0] * length + [0.0] * (max(LENGTHS) - length) for length in LENGTHS])
cases = []
for low, high, spread in [(3e-4, 4e-4, 0.01), (0.2, 0.2, 1.5), (0.5, 4.0, 1.5)]:
    draw = lambda a, b: [[round(rng.uniform(a, b), 4) for _ in row] for row in mask]
    old, shift, advantages = torch.tensor(draw(-3, -0.1)), torch.tensor(draw(-spread, spread)), torch.tensor(draw(-2, 2))
    log_prob = (old + shift).requires_grad_()
    config = SimpleNamespace(clip_ratio=0.2, clip_ratio_low=low, clip_ratio_high=high, global_batch_info={})
    loss, metrics = losses.compute_policy_loss_gspo(old, log_prob, advantages, mask, "seq-mean-token-mean", config)
    loss.backward()
    rows = lambda of: [row[:length].tolist() for row, length in zip(of.detach(), LENGTHS)]
    cases.append(
        {
            "options": {"clipLow": low, "clipHigh": high},
            **{"oldLogprobs": rows(old), "logprobs": rows(log_prob), "advantages": rows(advantages)},
            **{"loss": loss.item(), "gradient": rows(log_prob.grad)},
        }
    )

made = {"verl": version(), "torch": torch.__version__, "seed": SEED}
(HERE / "gspo.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
