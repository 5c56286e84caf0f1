"""One PPO batch, two updates of policy and critic, by transformers' models and torch's AdamW in float64.

  python test/golden/decoder/ppo_update.py      (torch, transformers, safetensors, numpy; recorded with the versions in ppo-update.json)

Weights come from the formula of formula_weights.py; the critic has the policy's trunk and a head of zeros. Writes beside this file:
- ppo-update.json: versions, settings, the batch with its sampled log-probabilities, and the losses;
- ppo-update.safetensors: what both models' weights have become, float32, as policy.<name> and critic.<name>.
"""

import json
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification

from formula_weights import common, fill, ids, uniform

HERE = Path(__file__).parent
torch.set_default_dtype(torch.float64)
NAME = "qwen2"
# As many as a tokenizer of bytes needs.
VOCABULARY = 300
settings = {
    **{"gamma": 0.99, "lambda": 0.95, "clipLow": 0.2, "clipHigh": 0.2, "epochs": 2},
    "critic": {"clip": 0.5, "optimizer": {"learningRate": 2e-3, "epsilon": 1e-4}},
    "optimizer": {"learningRate": 1e-3, "epsilon": 1e-4},
}
own = json.loads((HERE / "configs.json").read_text())[NAME]
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "config.json").write_text(json.dumps({**common, **own, "vocab_size": VOCABULARY}))
    config = AutoConfig.from_pretrained(folder)
policy = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
fill(dict(policy.named_parameters()))
policy = policy.double().eval()
config.num_labels = 1
critic = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager").double().eval()
critic.model.load_state_dict(policy.model.state_dict())
critic.score.weight.data.zero_()

# Lengths of prompt, message, observation, message; the second has one message.
tokens = ids[0].tolist()
batch = [
    {"ids": tokens[:20], "parts": [5, 6, 4, 5], "reward": 1.0},
    {"ids": tokens[20:] + tokens[3:9], "parts": [4, 7], "reward": 0.0},
]


def targets(row):
    """Places, from 1, of the tokens that the policy wrote."""
    places, at = [], 0
    for number, length in enumerate(row["parts"]):
        if number % 2 == 1:
            places += range(at, at + length)
        at += length
    return torch.tensor(places)


def logprobs(row):
    row_ids = torch.tensor([row["ids"]])
    scores = policy(row_ids).logits[0].log_softmax(-1)
    at = targets(row)
    return scores[at - 1, row_ids[0, at]]


def values(row):
    hidden = critic.model(torch.tensor([row["ids"]])).last_hidden_state[0]
    return critic.score(hidden)[targets(row) - 1, 0]


with torch.no_grad():
    for number, row in enumerate(batch):
        found = logprobs(row)
        row["sampled"] = (found + torch.tensor(0.4 * uniform(50 + number, len(found)))).tolist()
        old_values, rewards = values(row), torch.zeros(len(found))
        rewards[-1] = row["reward"]
        advantages, last, following = [], 0.0, 0.0
        for t in reversed(range(len(found))):
            delta = rewards[t] + settings["gamma"] * following - old_values[t]
            last = delta + settings["gamma"] * settings["lambda"] * last
            following = old_values[t]
            advantages.insert(0, last)
        row["advantages"] = torch.stack(advantages)
        row["old_values"], row["returns"] = old_values, row["advantages"] + old_values
    everything = torch.cat([row["advantages"] for row in batch])
    for row in batch:
        row["advantages"] = (row["advantages"] - everything.mean()) * torch.rsqrt(everything.var() + 1e-8)

count = len(everything)
optimisers = [
    torch.optim.AdamW(model.parameters(), lr=of["learningRate"], eps=of["epsilon"], betas=(0.9, 0.999), weight_decay=0)
    for model, of in [(policy, settings["optimizer"]), (critic, settings["critic"]["optimizer"])]
]
losses = []
for _ in range(settings["epochs"]):
    policy_loss, value_loss = 0, 0
    for row in batch:
        ratio, advantages = (logprobs(row) - torch.tensor(row["sampled"])).exp(), row["advantages"]
        policy_loss = policy_loss - torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).sum() / count
        found, old = values(row), row["old_values"]
        near = old + (found - old).clamp(-0.5, 0.5)
        worst = torch.max((found - row["returns"]) ** 2, (near - row["returns"]) ** 2)
        value_loss = value_loss + 0.5 * worst.sum() / count
    for model, loss, optimiser in [(policy, policy_loss, optimisers[0]), (critic, value_loss, optimisers[1])]:
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    losses.append({"policy": policy_loss.item(), "value": value_loss.item()})

tensors = {f"policy.{name}": each for name, each in policy.named_parameters()}
tensors |= {f"critic.{name}": each for name, each in critic.named_parameters()}
save_file({name: each.detach().float().contiguous() for name, each in tensors.items()}, HERE / "ppo-update.safetensors")
record = {
    "tool": "transformers and torch.optim.AdamW",
    "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
    **{"script": "ppo_update.py", "model": NAME, "vocabulary": VOCABULARY, "settings": settings, "losses": losses},
    "batch": [{key: row[key] for key in ("ids", "parts", "reward", "sampled")} for row in batch],
}
(HERE / "ppo-update.json").write_text(json.dumps(record, indent=1) + "\n")
