"""Training steps of adapters with PEFT in PyTorch eager; the output matrix scores the second half of each row alone."""

import json

from player import THREADS, missing, play, settings, versions

try:
    import torch
    from peft import LoraConfig, get_peft_model
    from torch.nn import functional as F
    from transformers import AutoModelForCausalLM
except ImportError as error:
    missing(error)


def main():
    given = settings()
    torch.set_num_threads(THREADS)
    with open(given["rows"], encoding="utf-8") as file:
        rows = torch.tensor(json.load(file))
    adam, lora = given["adam"], given["lora"]
    base = AutoModelForCausalLM.from_pretrained(
        given["folder"], dtype=torch.float32, attn_implementation="sdpa"
    )
    model = get_peft_model(
        base, LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules="all-linear")
    )
    model.train()
    optimizer = torch.optim.AdamW(
        [each for each in model.parameters() if each.requires_grad],
        lr=adam["learningRate"],
        betas=(adam["beta1"], adam["beta2"]),
        eps=adam["epsilon"],
        weight_decay=adam["weightDecay"],
        fused=True,
    )
    inputs, targets = rows[:, :-1].contiguous(), rows[:, 1:]
    half = inputs.shape[1] // 2
    wanted = targets[:, half:].reshape(-1)

    def step(_=None):
        hidden = base.model(input_ids=inputs, use_cache=False).last_hidden_state[:, half:]
        loss = F.cross_entropy(base.lm_head(hidden.flatten(0, 1)), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return {"loss": loss.item()}

    losses = [step()["loss"] for _ in range(given["warmUp"])]
    ready = {"version": versions("torch", "transformers", "peft"), "threads": THREADS, "losses": losses}
    play(ready, step)


main()
