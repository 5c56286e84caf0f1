"""The clipped loss with truncated importance sampling, its gradient and its mismatch metrics, by verl's own functions.

  python test/golden/importance-sampling.py FOLDER     (torch; FOLDER: verl's unpacked wheel)

Writes importance-sampling.json beside this file; recorded with the versions in it.
"""

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import torch
from verl_functions import functions, version

HERE = Path(__file__).parent
SEED = 13
torch.set_default_dtype(torch.float64)

masked = functions("utils/torch_functional.py", ["masked_sum", "masked_mean"], {"torch": torch})
scope = {"torch": torch, "Any": Any, "Optional": Optional, "verl_F": masked, "SAFETY_BOUND": 20.0}
scope |= {"DictConfig": SimpleNamespace, "ActorConfig": SimpleNamespace, "AlgoConfig": type(None)}
losses = functions("trainer/ppo/core_algos.py", ["agg_loss", "compute_policy_loss_vanilla"], scope)
weighing = ["_parse_rollout_is_threshold", "compute_is_metrics", "compute_rollout_correction_weights", "compute_offpolicy_metrics"]
correction = functions("trainer/ppo/rollout_corr_helper.py", weighing, scope)

rng = random.Random(SEED)
cases = []
for cap, apart in [(2.0, 0.05), (2.0, 1.5), (1.2, 25.0)]:
    draw = lambda a, b: [round(rng.uniform(a, b), 4) for _ in range(8)]
    old, advantages = draw(-3, -0.1), draw(-2, 2)
    logprobs = [round(a + b, 4) for a, b in zip(old, draw(-1.5, 1.5))]
    sampled = [round(a + b, 4) for a, b in zip(old, draw(-apart, apart))]
    mask, before, rollout = torch.ones(1, 8), torch.tensor([old]), torch.tensor([sampled])
    weights, corrected = correction.compute_rollout_correction_weights(before - rollout, mask, "token", cap)
    log_prob = torch.tensor([logprobs], requires_grad=True)
    config = type("Config", (dict,), {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "global_batch_info": {}})()
    loss, _ = losses.compute_policy_loss_vanilla(
        before, log_prob, torch.tensor([advantages]), mask, config=config, rollout_is_weights=weights
    )
    loss.backward()
    cases.append(
        {
            "options": {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3, "importanceSamplingCap": cap},
            **{"sampledLogprobs": sampled, "oldLogprobs": old, "logprobs": logprobs, "advantages": advantages},
            **{"loss": loss.item(), "gradient": log_prob.grad[0].tolist()},
            **{"weight": corrected["rollout_is_mean"], "truncatedShare": corrected["rollout_is_ratio_fraction_high"]},
            "kl": correction.compute_offpolicy_metrics(before, rollout, mask)["k3_kl"],
        }
    )

made = {"verl": version(), "torch": torch.__version__, "seed": SEED}
(HERE / "importance-sampling.json").write_text(json.dumps({"made": made, "cases": cases}, indent=1) + "\n")
