"""The gradient of SDAR's gated loss at the policy that played, by the authors' own function.

  python test/golden/sdar.py FILE      (torch; FILE: verl/trainer/ppo/sdar_utils.py of ZJU-REAL/SDAR, Apache 2.0)

Writes sdar.json beside this file: what each token's log-probability is pushed up by, times the number of tokens.
"""

import hashlib
import json
import random
import sys
import types
from pathlib import Path

import torch

HERE = Path(__file__).parent
SEED = 41
SOURCE = Path(sys.argv[1])
torch.set_default_dtype(torch.float64)


def agg_loss(loss_mat, loss_mask, loss_agg_mode):
    assert loss_agg_mode == "token-mean"
    return (loss_mat * loss_mask).sum() / loss_mask.sum()


# The file imports verl for its mean over tokens alone.
for name in ["verl", "verl.trainer", "verl.trainer.ppo"]:
    sys.modules[name] = types.ModuleType(name)
sys.modules["verl.trainer.ppo.core_algos"] = types.SimpleNamespace(agg_loss=agg_loss)
released = {"__name__": "sdar_utils"}
exec(compile(SOURCE.read_text(), str(SOURCE), "exec"), released)

rng = random.Random(SEED)
draw = lambda: [round(rng.uniform(-4, -0.01), 4) for _ in range(8)]
student, teacher = draw(), draw()
cases = []
for beta in [5.0, 0.5]:
    own = torch.tensor([student], requires_grad=True)
    mask = torch.ones(1, len(student))
    loss, _ = released["compute_sdar_loss"](own, torch.tensor([teacher]), mask, gate_beta=beta)
    loss.backward()
    cases.append({"gate": beta, "pushed": (-own.grad[0] * len(student)).tolist()})

origin = {"script": "sdar.py", "seed": SEED, "sha256": hashlib.sha256(SOURCE.read_bytes()).hexdigest(), "torch": torch.__version__}
text = json.dumps({"origin": origin, "student": student, "teacher": teacher, "cases": cases}, indent=1)
(HERE / "sdar.json").write_text(text + "\n")
