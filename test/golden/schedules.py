"""
Golden: learning rates of transformers' schedules with warm-up, of each step from 0 to the run's last and one more.

python test/golden/schedules.py > test/golden/schedules.json
"""

import json
import sys

sys.path.pop(0)  # This folder has a statistics.py, which is not Python's own.

import torch
import transformers

PEAK = 3e-4


def rates(name, warmup, total, **options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    schedule = transformers.get_scheduler(
        name, optimizer, num_warmup_steps=warmup, num_training_steps=total, scheduler_specific_kwargs=options
    )
    found = []
    for _ in range(total + 1):
        found.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return found


cases = []
for warmup, total in [(4, 40), (1, 12), (20, 200), (3, 4), (5, 6)]:
    for name, options, to in [
        ("linear", {}, 0),
        ("cosine", {}, 0),
        ("cosine_with_min_lr", {"min_lr": 5e-5}, 5e-5),
        ("constant_with_warmup", {}, PEAK),
    ]:
        cases.append({"name": name, "warmup": warmup, "total": total, "to": to, "rates": rates(name, warmup, total, **options)})

tool = {"transformers": transformers.__version__, "torch": torch.__version__}
json.dump({"tool": tool, "script": "test/golden/schedules.py", "tolerance": 1e-15, "peak": PEAK, "cases": cases}, sys.stdout)
