"""What PEFT makes of adapters on small decoders, of adapters that we wrote, and an adapter of its own.

  node test/golden/decoder/write-adapters.mjs OUT      (after `npm run build`)
  python test/golden/decoder/lora.py OUT               (torch, transformers, peft, safetensors, numpy)

Weights and adapters come by formula (formula_weights.py, formula-weights.mjs), so that only results are stored. Writes beside
this file:
- lora-<case>.safetensors: logits of one row (float32) and the gradient of its mean cross-entropy by every A and B, divided by its
  largest element and rounded to half; computed in float64 but where transformers itself says float32;
- lora.json: versions, seed, losses, the gradients' largest elements, and `wayBack`: how far what our graphs gave lies from what PEFT
  gives after loading the adapters in OUT, and the checkpoints in OUT that our merge made from what PEFT's own merge gives;
- from-peft/: an adapter that PEFT made and saved, and the logits with it.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

import peft
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from formula_weights import common, fill, ids

HERE = Path(__file__).parent
OUT = Path(sys.argv[1])
SEED = 20
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
PREFIX = "base_model.model."
configs = json.loads((HERE / "configs.json").read_text())
cases = json.loads((HERE / "lora-cases.json").read_text())


def base_model(name):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps({**common, **configs[name]}))
        config = AutoConfig.from_pretrained(folder)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    fill(dict(model.named_parameters()))
    return model


def adapters(model):
    """Every A and B by the name that it has in a file, without PEFT's prefix."""
    return {
        name.removeprefix(PREFIX).replace(".default.", "."): each
        for name, each in model.named_parameters()
        if "lora_" in name
    }


def logits_of(model):
    return model.to(torch.float64).eval()(ids[:, :-1]).logits[0]


def worst(found, expected):
    return (found.double() - expected).abs().max().item()


def way_back(name, case, expected):
    """PEFT with our adapter folder against our logits, and our merged checkpoint against PEFT's merge."""
    loaded = PeftModel.from_pretrained(base_model(case["model"]), OUT / name)
    own = load_file(OUT / name / "adapter_model.safetensors")
    assert {PREFIX + key for key in adapters(loaded)} == set(own)
    for key, each in adapters(loaded).items():
        assert torch.equal(each, own[PREFIX + key]), key
    digest = hashlib.sha256((OUT / name / "adapter_config.json").read_bytes())
    for key in sorted(own):
        digest.update(key.encode())
        digest.update(own[key].numpy().tobytes())
    ours = load_file(OUT / f"{name}.ours.safetensors")["logits"]
    with torch.no_grad():
        record = {"adapter": digest.hexdigest(), "worstLogit": worst(ours, logits_of(loaded))}
        merged = loaded.float().merge_and_unload()
        theirs = dict(merged.named_parameters())
        mine = load_file(OUT / f"{name}.merged" / "model.safetensors")
        assert set(mine) == set(theirs)
        record["worstMergedWeight"] = max(worst(mine[key], theirs[key].double()) for key in mine)
        back = AutoModelForCausalLM.from_pretrained(OUT / f"{name}.merged", attn_implementation="eager")
        record["worstMergedLogit"] = worst(logits_of(back), expected)
    return record


record = {
    "tool": "peft",
    "versions": {"peft": peft.__version__, "transformers": transformers.__version__, "torch": torch.__version__},
    "script": "lora.py",
    "seed": SEED,
    "cases": {},
}
for name, case in cases.items():
    own = {"target_modules": ALL, **{key: value for key, value in case.items() if key != "model"}}
    model = get_peft_model(base_model(case["model"]), LoraConfig(task_type="CAUSAL_LM", lora_dropout=0, **own))
    trained = adapters(model)
    fill(trained)
    logits = logits_of(model)
    loss = torch.nn.functional.cross_entropy(logits, ids[0, 1:])
    loss.backward()
    assert {key for key, each in model.named_parameters() if each.grad is not None} == {
        key for key, each in model.named_parameters() if "lora_" in key
    }
    tensors = {"logits": logits.detach().float().contiguous()}
    scales = {}
    for key, each in adapters(model).items():
        scales[key] = each.grad.abs().max().item()
        tensors[f"gradient.{key}"] = (each.grad / scales[key]).half().contiguous()
    save_file(tensors, HERE / f"lora-{name}.safetensors")
    found = way_back(name, case, logits.detach())
    record["cases"][name] = {"loss": loss.item(), "scales": scales, "wayBack": found}
    print(name, loss.item(), found)

torch.manual_seed(SEED)
settings = LoraConfig(task_type="CAUSAL_LM", r=2, lora_alpha=3, target_modules="all-linear", init_lora_weights=False)
model = get_peft_model(base_model("qwen3"), settings)
model.peft_config["default"].base_model_name_or_path = "qwen3"
shutil.rmtree(HERE / "from-peft", ignore_errors=True)
model.save_pretrained(HERE / "from-peft")
(HERE / "from-peft" / "README.md").unlink()
with torch.no_grad():
    save_file({"logits": logits_of(model).float().contiguous()}, HERE / "from-peft" / "logits.safetensors")
for path in HERE.rglob("*.safetensors"):
    path.chmod(0o644)
(HERE / "lora.json").write_text(json.dumps(record, indent=2) + "\n")
