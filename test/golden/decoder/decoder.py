"""What transformers makes of our checkpoints, and a checkpoint of its own for ours to read.

  node test/golden/decoder/write-checkpoints.mjs OUT      (after `npm run build`)
  python test/golden/decoder/decoder.py OUT               (torch, transformers, safetensors, numpy)

Writes beside this file: <name>.safetensors (logits of one row and the gradients of its mean cross-entropy, computed in float64),
decoder.json (versions, seed, ids, losses) and from-transformers/ (a checkpoint saved by transformers with its logits).
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM

HERE = Path(__file__).parent
SEED = 20
torch.manual_seed(SEED)
ids = torch.randint(0, 48, (1, 41))
record = {
    "tool": "transformers",
    "versions": {"transformers": transformers.__version__, "torch": torch.__version__},
    "script": "decoder.py",
    "seed": SEED,
    "ids": ids[0].tolist(),
    "models": {},
}


def run(model):
    model = model.to(torch.float64).eval()
    logits = model(ids[:, :-1]).logits[0]
    loss = torch.nn.functional.cross_entropy(logits, ids[0, 1:])
    return logits, loss


for name in ["llama", "qwen2"]:
    folder = Path(sys.argv[1]) / name
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    logits, loss = run(model)
    loss.backward()
    tensors = {f"gradient.{key}": value.grad.float().contiguous() for key, value in model.named_parameters()}
    tensors["logits"] = logits.detach().float().contiguous()
    save_file(tensors, HERE / f"{name}.safetensors")
    digest = hashlib.sha256()
    for key, value in sorted(load_file(folder / "model.safetensors").items()):
        digest.update(key.encode())
        digest.update(value.numpy().tobytes())
    record["models"][name] = {"loss": loss.item(), "checkpoint": digest.hexdigest()}

torch.manual_seed(SEED)
config = Qwen2Config(
    vocab_size=48, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
    intermediate_size=24, max_position_embeddings=64, tie_word_embeddings=True, initializer_range=0.3,
    rope_theta=20000.0,
)
own = Qwen2ForCausalLM(config)
own.save_pretrained(HERE / "from-transformers")
(HERE / "from-transformers" / "generation_config.json").unlink(missing_ok=True)
logits, loss = run(own)
save_file({"logits": logits.detach().float().contiguous()}, HERE / "from-transformers-logits.safetensors")
record["models"]["from-transformers"] = {"loss": loss.item()}
(HERE / "decoder.json").write_text(json.dumps(record, indent=2) + "\n")
