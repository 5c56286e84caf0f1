"""Steps of torch.optim.AdamW with clipping: in float64, and in float32 by the fused kernel.

  python -P test/golden/adamw.py      (torch; recorded with the version in adamw.json; -P because of statistics.py beside it)

Two tensors, the first with weight decay; gradients of all sizes, clipped in some steps. Writes adamw.json: float32 start and
gradients, the parameters after each step, and the norms.
"""

import json
from pathlib import Path

import torch

torch.manual_seed(1)
SIZES, STEPS, CLIP = [37, 14], 8, 1.0
settings = {"learningRate": 3e-3, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-8, "weightDecay": 0.1}
start = [torch.randn(size) * 0.02 for size in SIZES]
gradients = [[torch.randn(size) * 10 ** (-5 * torch.rand(size)) for size in SIZES] for _ in range(STEPS)]
# Some are never reached, as rows of an embedding.
for step in gradients:
    step[0][5:9] = 0


def run(dtype, fused):
    parameters = [torch.nn.Parameter(each.to(dtype)) for each in start]
    decays = [settings["weightDecay"], 0.0]
    optimizer = torch.optim.AdamW(
        [{"params": [each], "weight_decay": decay} for each, decay in zip(parameters, decays)],
        lr=settings["learningRate"],
        betas=(settings["beta1"], settings["beta2"]),
        eps=settings["epsilon"],
        fused=fused,
    )
    after, norms = [], []
    for step in gradients:
        for parameter, gradient in zip(parameters, step):
            parameter.grad = gradient.to(dtype)
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, CLIP).item())
        optimizer.step()
        after.append(torch.cat([each.detach() for each in parameters]).tolist())
    return {"parameters": after, "norms": norms}


record = {
    "tool": "torch.optim.AdamW",
    "versions": {"torch": torch.__version__},
    **{"script": "adamw.py", "seed": 1, "settings": {**settings, "gradClipNorm": CLIP}, "decays": SIZES[0]},
    "start": torch.cat(start).tolist(),
    "gradients": [torch.cat(step).tolist() for step in gradients],
    "float64": run(torch.float64, False),
    "fused": run(torch.float32, True),
}
(Path(__file__).parent / "adamw.json").write_text(json.dumps(record) + "\n")
