"""What transformers makes of small decoders of every architecture, of our checkpoints of them, and a checkpoint of its own.

  node test/golden/decoder/write-checkpoints.mjs OUT      (after `npm run build`)
  python test/golden/decoder/decoder.py OUT               (torch, transformers, safetensors, numpy)

Weights come from a formula (formula-weights.mjs has it too), so that only results are stored. Writes beside this file:
- <name>.safetensors: logits of one row (float32) and, for those in GRADIENTS, the gradient of its mean cross-entropy by every
  parameter, divided by its largest element and rounded to half; computed in float64 but where transformers itself says float32;
- decoder.json: versions, seed, ids, losses, the gradients' largest elements, and `wayBack`: how far what our graphs gave for the
  checkpoints in OUT, which our writer wrote, lies from what transformers gives after loading them;
- from-transformers/: a sharded bfloat16 checkpoint that transformers saved, and its logits.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

from formula_weights import common, fill, ids

HERE = Path(__file__).parent
OUT = Path(sys.argv[1])
SEED = 20
GRADIENTS = ["llama3", "mistral", "qwen2", "qwen3"]
configs = json.loads((HERE / "configs.json").read_text())


def run(model):
    """Logits [T, V] and gradients by name, of one row."""
    model = model.to(torch.float64).eval()
    logits = model(ids[:, :-1]).logits[0]
    loss = torch.nn.functional.cross_entropy(logits, ids[0, 1:])
    loss.backward()
    return logits.detach(), loss.item(), {name: each.grad for name, each in model.named_parameters()}


def way_back(name):
    """Loads our checkpoint and compares with what our graphs gave for it."""
    model, info = AutoModelForCausalLM.from_pretrained(
        OUT / name, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    assert not any(info[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
    logits, _, gradients = run(model)
    ours = load_file(OUT / f"{name}.ours.safetensors")
    digest = hashlib.sha256((OUT / name / "config.json").read_bytes())
    for key, value in sorted(load_file(OUT / name / "model.safetensors").items()):
        digest.update(key.encode())
        digest.update(value.numpy().tobytes())
    gaps = [(ours[f"gradient.{key}"] - each).norm() / each.norm() for key, each in gradients.items()]
    return {
        "checkpoint": digest.hexdigest(),
        "worstLogit": (ours["logits"] - logits).abs().max().item(),
        "worstGradient": max(gaps).item(),
    }


record = {
    "tool": "transformers",
    "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
    "script": "decoder.py",
    "seed": SEED,
    "ids": ids[0].tolist(),
    "models": {},
}
for name, own in configs.items():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps({**common, **own}))
        config = AutoConfig.from_pretrained(folder)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    fill(dict(model.named_parameters()))
    logits, loss, gradients = run(model)
    tensors = {"logits": logits.float().contiguous()}
    scales = {}
    if name in GRADIENTS:
        for key, each in gradients.items():
            scales[key] = each.abs().max().item()
            tensors[f"gradient.{key}"] = (each / scales[key]).half().contiguous()
    save_file(tensors, HERE / f"{name}.safetensors")
    record["models"][name] = {"loss": loss, "scales": scales, "wayBack": way_back(name)}
    print(name, loss, record["models"][name]["wayBack"])

torch.manual_seed(SEED)
config = Qwen3Config(
    vocab_size=97, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
    intermediate_size=24, max_position_embeddings=64, tie_word_embeddings=False, initializer_range=0.3,
    rope_parameters={"rope_type": "default", "rope_theta": 20000.0}, eos_token_id=[3, 5], bos_token_id=1,
)
own = Qwen3ForCausalLM(config).to(torch.bfloat16)
shutil.rmtree(HERE / "from-transformers", ignore_errors=True)
own.save_pretrained(HERE / "from-transformers", max_shard_size="5KB")
# Read back, since casting the model rounded its rotary frequencies too.
back = Qwen3ForCausalLM.from_pretrained(HERE / "from-transformers", dtype=torch.float32, attn_implementation="eager")
logits, loss, _ = run(back)
save_file({"logits": logits.float().contiguous()}, HERE / "from-transformers" / "logits.safetensors")
for path in HERE.rglob("*.safetensors"):
    path.chmod(0o644)
(HERE / "decoder.json").write_text(json.dumps(record, indent=2) + "\n")
