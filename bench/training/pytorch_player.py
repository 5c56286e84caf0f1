"""Training steps in PyTorch eager: transformers' model and a lean one, each with AdamW as it comes and with its fused kernel."""

import json
import os

from player import THREADS, missing, play, settings, versions

try:
    import torch
    from safetensors.torch import load_file
    from torch.nn import functional as F
    from transformers import AutoModelForCausalLM
except ImportError as error:
    missing(error)

from lean_decoder import LeanDecoder


def transformers_model(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model, lambda ids: model(input_ids=ids, use_cache=False).logits


def lean_model(folder):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    model = LeanDecoder(config).load(load_file(os.path.join(folder, "model.safetensors")))
    return model, model


def stepper(model, scores, rows, adam, fused):
    """A function that trains one step and returns the loss before it."""
    model.train()
    matrices = [each for each in model.parameters() if each.dim() == 2]
    vectors = [each for each in model.parameters() if each.dim() == 1]
    optimizer = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": adam["weightDecay"]},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=adam["learningRate"],
        betas=(adam["beta1"], adam["beta2"]),
        eps=adam["epsilon"],
        fused=fused,
    )
    inputs, targets = rows[:, :-1].contiguous(), rows[:, 1:].reshape(-1)

    def step():
        loss = F.cross_entropy(scores(inputs).flatten(0, 1), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def main():
    given = settings()
    torch.set_num_threads(THREADS)
    with open(given["rows"], encoding="utf-8") as file:
        rows = torch.tensor(json.load(file))
    steps = {}
    for model_name, build in [("transformers", transformers_model), ("lean", lean_model)]:
        for adam_name, fused in [("AdamW", None), ("fused AdamW", True)]:
            if given["fusedOnly"] and fused is None:
                continue
            step = stepper(*build(given["folder"]), rows, given["adam"], fused)
            steps[f"{model_name}, {adam_name}"] = step
    losses = {name: [step() for _ in range(given["warmUp"])] for name, step in steps.items()}
    play(
        {"version": versions("torch", "transformers"), "threads": THREADS, "losses": losses},
        lambda request: {"loss": steps[request["variant"]]()},
    )


main()
