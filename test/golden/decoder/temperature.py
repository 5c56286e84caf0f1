"""TRL's GRPO loss and its gradient at several temperatures, by transformers' model in float64.

  python test/golden/decoder/temperature.py      (torch, transformers, trl, numpy; recorded with the versions in temperature.json)

Weights come from the formula of formula_weights.py. The loss is GRPOTrainer._compute_loss; the model's log-probabilities and entropies are of the
scores over the temperature, as the trainer's own patch of the model computes them. Writes beside this file:
- temperature.json: versions, the batch, and of each temperature the loss, log-probabilities and entropies;
- temperature.safetensors: the gradients of all parameters, <temperature>.<name>, as halves of the largest element, which is in `scales`.
"""

import json
import tempfile
from collections import defaultdict
from pathlib import Path
from unittest.mock import MagicMock

import torch
import transformers
import trl
from transformers import AutoConfig, AutoModelForCausalLM
from safetensors.torch import save_file
from trl import GRPOTrainer
from trl.trainer.utils import entropy_from_logits, selective_log_softmax

from formula_weights import common, fill, ids, uniform

HERE = Path(__file__).parent
torch.set_default_dtype(torch.float64)
NAME, PROMPT = "qwen2", 5
# As many as a tokenizer of bytes needs.
VOCABULARY = 300
OPTIONS = {"klCoef": 0.1, "entropyCoef": 0.02}
own = json.loads((HERE / "configs.json").read_text())[NAME]
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "config.json").write_text(json.dumps({**common, **own, "vocab_size": VOCABULARY}))
    config = AutoConfig.from_pretrained(folder)
model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
fill(dict(model.named_parameters()))
model = model.double().eval()
tokens = torch.stack([ids[0, :12], ids[0, 12:24]])
prompt, completion = tokens[:, :PROMPT], tokens[:, PROMPT:]
count = completion.shape[1]
mask = torch.ones_like(completion)
mask[0, 3] = 0
advantages = torch.tensor([0.8, -1.1])


def trainer(temperature):
    self = MagicMock()
    self.__dict__.update(
        temperature=temperature, importance_sampling_level="token", loss_type="bnpo", top_entropy_quantile=1.0,
        off_policy_mask_threshold=None, use_vllm=False, aux_loss_enabled=False, epsilon_low=0.2, epsilon_high=0.2,
        use_adaptive_entropy=False, current_gradient_accumulation_steps=1, _metrics={"train": defaultdict(list), "eval": defaultdict(list)},
        beta=OPTIONS["klCoef"], entropy_coef=OPTIONS["entropyCoef"], _entropy_bonus_enabled=True,
    )  # fmt: skip
    self.args.delta, self.args.use_bias_correction_kl = None, False
    self.model.training = True
    self.accelerator.gather = self.accelerator.gather_for_metrics = lambda x: x
    self._get_per_token_logps_and_entropies = lambda *_, **__: (*scored(temperature), None)
    return self


def scored(temperature):
    logits = model(tokens).logits[:, PROMPT - 1 : -1] / temperature
    return selective_log_softmax(logits, completion), entropy_from_logits(logits)


cases, kept = [], {}
for temperature in (0.7, 1.0, 1.5):
    with torch.no_grad():
        found, entropies = scored(temperature)
    shift = lambda place: torch.tensor(uniform(place, found.numel())).reshape(found.shape)
    old, reference = found - 0.4 * shift(60), found + 0.3 * shift(61)
    inputs = {
        "prompt_ids": prompt, "prompt_mask": torch.ones_like(prompt), "completion_ids": completion, "completion_mask": mask,
        "advantages": advantages, "old_per_token_logps": old, "ref_per_token_logps": reference,
    }  # fmt: skip
    model.zero_grad()
    loss = GRPOTrainer._compute_loss(trainer(temperature), model, inputs)
    loss.backward()
    scales = {}
    for name, parameter in model.named_parameters():
        scales[name] = parameter.grad.abs().max().item()
        kept[f"{temperature}.{name}"] = (parameter.grad / scales[name]).half().contiguous()
    cases.append({
        "temperature": temperature, "loss": loss.item(), "logprobs": found.tolist(), "entropies": entropies.tolist(),
        "oldLogprobs": old.tolist(), "refLogprobs": reference.tolist(), "scales": scales,
    })  # fmt: skip

save_file(kept, HERE / "temperature.safetensors")
versions = {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__}
facts = {"tool": versions, "script": "test/golden/decoder/temperature.py", "model": NAME, "vocabulary": VOCABULARY, "options": OPTIONS}
batch = {"ids": tokens.tolist(), "prompt": PROMPT, "mask": mask.tolist(), "advantages": advantages.tolist()}
(HERE / "temperature.json").write_text(json.dumps({**facts, **batch, "cases": cases}) + "\n")
