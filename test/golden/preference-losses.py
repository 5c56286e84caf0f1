"""Losses over pairs, and their derivatives, by TRL's own trainers' code.

  python -P test/golden/preference-losses.py     (torch, trl; -P: a neighbour is named as a module of Python; recorded with the versions in preference-losses.json)

Writes preference-losses.json beside this file. The trainers' loss code is run on given log-probabilities: DPOTrainer's through a model that
returns them, CPO's (for SimPO) and ORPO's through their loss functions. Derivatives by the sums of log-probabilities are torch's.
- dpo with label smoothing: this TRL has it under the name aot, which for a batch of one pair is the same formula.
- ORPO's whole loss is its trainer's mean negative log-likelihood of the chosen text minus the odds-ratio term.
"""

import json
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import torch
import trl
from trl.experimental.cpo.cpo_trainer import CPOTrainer
from trl.experimental.orpo.orpo_trainer import ORPOTrainer
from trl.trainer.dpo_trainer import DPOTrainer

HERE = Path(__file__).parent
SEED = 11
torch.set_default_dtype(torch.float64)
rng = random.Random(SEED)


class Given(torch.nn.Module):
    """A model whose log-probabilities are what it was given."""

    def __init__(self, logprobs):
        super().__init__()
        self.logprobs = logprobs
        self.is_gradient_checkpointing = False

    def forward(self, **_):
        # Beside the log-probabilities only what is logged.
        zeros = torch.zeros(self.logprobs.shape)
        return SimpleNamespace(log_probs=self.logprobs, entropy=zeros, mean_logits=zeros, is_top1=zeros.bool())


def dpo_loss(loss_type, beta, smoothing, case):
    """DPOTrainer._compute_loss on one pair whose tokens share each side's sum evenly."""
    lengths = [case["chosen"]["tokens"], case["rejected"]["tokens"]]
    width = max(lengths)
    mask = torch.zeros(2, width + 1)
    for row, length in enumerate(lengths):
        mask[row, 1 : 1 + length] = 1
    sums = [torch.tensor(case[side]["logprob"], requires_grad=True) for side in ("chosen", "rejected")]
    policy = torch.stack([mask[row, 1:] * sums[row] / lengths[row] for row in range(2)])
    reference = torch.stack(
        [mask[row, 1:] * case[side]["reference"] / lengths[row] for row, side in enumerate(("chosen", "rejected"))]
    )
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(device="cpu", gather_for_metrics=lambda x: x, gather=lambda x: x),
        args=SimpleNamespace(gradient_checkpointing_kwargs=None, discopop_tau=0.05),
        model=Given(policy),
        ref_model=Given(reference),
        aux_loss_enabled=False,
        ld_alpha=None,
        precompute_ref_logps=False,
        f_divergence_type="reverse_kl",
        f_alpha_divergence_coef=0.5,
        loss_types=[loss_type],
        loss_weights=[1.0],
        beta=beta,
        label_smoothing=smoothing,
        use_weighting=False,
        _metrics={"train": defaultdict(list), "eval": defaultdict(list)},
        _total_train_tokens=0,
        _tp_size=1,
    )
    inputs = {
        "input_ids": torch.zeros(2, width + 1, dtype=torch.long),
        "attention_mask": torch.ones(2, width + 1, dtype=torch.long),
        "completion_mask": mask.long(),
    }
    loss = DPOTrainer._compute_loss(trainer, trainer.model, inputs, False)
    return loss, torch.autograd.grad(loss, sums)


def reference_free(name, options, case):
    sums = [torch.tensor(case[side]["logprob"], requires_grad=True) for side in ("chosen", "rejected")]
    means = [(s / case[side]["tokens"]).reshape(1) for s, side in zip(sums, ("chosen", "rejected"))]
    own = SimpleNamespace(accelerator=SimpleNamespace(device="cpu"), alpha=0.0, label_smoothing=0.0, **options)
    if name == "simpo":
        loss = CPOTrainer.cpo_loss(own, *means)[0].mean()
    else:
        # ORPO's function narrows to float32.
        ratio = ORPOTrainer.odds_ratio_loss(own, *means)[0]
        loss = -means[0].mean() - ratio.mean()
    return loss, torch.autograd.grad(loss, sums)


cases = []
for _ in range(4):
    case = {}
    for side in ("chosen", "rejected"):
        tokens = rng.randint(2, 40)
        logprob = -round(tokens * rng.uniform(0.05, 1.5), 3)
        case[side] = {"logprob": logprob, "reference": round(logprob + rng.uniform(-4, 4), 3), "tokens": tokens}
    cases.append(case)

runs = [
    ("dpo", {"beta": 0.1}, lambda c: dpo_loss("sigmoid", 0.1, 0.0, c)),
    ("dpo", {"beta": 0.5, "labelSmoothing": 0.1}, lambda c: dpo_loss("aot", 0.5, 0.1, c)),
    ("ipo", {"beta": 0.1}, lambda c: dpo_loss("ipo", 0.1, 0.0, c)),
    ("simpo", {"beta": 2.0, "gamma": 1.0}, lambda c: reference_free("simpo", {"loss_type": "simpo", "beta": 2.0, "simpo_gamma": 1.0}, c)),
    ("orpo", {"beta": 0.1}, lambda c: reference_free("orpo", {"beta": 0.1}, c)),
]
record = {
    "tool": "trl",
    "versions": {"trl": trl.__version__, "torch": torch.__version__},
    "script": "preference-losses.py",
    "seed": SEED,
    "cases": cases,
    "losses": [],
}
for name, options, run in runs:
    results = []
    for case in cases:
        loss, (chosen, rejected) = run(case)
        results.append({"loss": loss.item(), "chosen": chosen.item(), "rejected": rejected.item()})
    record["losses"].append({"name": name, "options": options, "results": results})
(HERE / "preference-losses.json").write_text(json.dumps(record, indent=1) + "\n")
