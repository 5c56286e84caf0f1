"""GiGPO's step returns and advantages, by the authors' own functions.

  python test/golden/gigpo.py FILE     (torch, numpy; FILE: gigpo/core_gigpo.py of langfengQ/verl-agent, Apache 2.0)

Writes gigpo.json beside this file. Both advantages are computed over trajectories, as in the paper: the released default counts each
trajectory once for every step (`compute_mean_std_cross_steps`). One trajectory per group of one is left out: the code gives it its raw reward.
"""

import hashlib
import json
import random
import sys
import types
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
SEED = 40
SOURCE = Path(sys.argv[1])

# The file imports verl for the name of a type alone.
sys.modules["verl"] = types.SimpleNamespace(DataProto=object)
released = {"__name__": "core_gigpo"}
exec(compile(SOURCE.read_text(), str(SOURCE), "exec"), released)

rng = random.Random(SEED)
trajectories = []
for group in ["a", "b", "c"]:
    for member in range(5):
        turns = rng.randint(1, 5)
        states = [""] + [rng.choice(["hall", "cellar", "garden"]) for _ in range(turns - 1)]
        paid = [0.0] * (turns - 1) + [rng.choice([0.0, 1.0, 0.3])]
        trajectories.append({"groupId": group, "id": f"{group}{member}", "states": states, "paid": paid})

steps = [(t, turn) for t in trajectories for turn in range(len(t["states"]))]
as_array = lambda values: np.array(values, dtype=object)
index = as_array([t["groupId"] for t, _ in steps])
members = as_array([t["id"] for t, _ in steps])
batch = types.SimpleNamespace(
    non_tensor_batch={
        "rewards": np.array([t["paid"][turn] for t, turn in steps]),
        "traj_uid": members,
        "active_masks": np.ones(len(steps)),
    },
    batch={"input_ids": torch.zeros(1)},
)
mask = torch.ones(len(steps), 1)
episode = torch.tensor([[sum(t["paid"])] for t, _ in steps])
cases = []
for scale, remove_std in [("none", True), ("group", False)]:
    for gamma in [0.95, 0.5]:
        returns = released["compute_step_discounted_returns"](batch, gamma)
        whole = released["episode_norm_reward"](
            episode.clone(), mask, index, members, remove_std=remove_std, compute_mean_std_cross_steps=False
        )
        uids = released["build_step_group"](as_array([t["states"][turn] for t, turn in steps]), index)
        own = released["step_norm_reward"](returns, mask, uids, remove_std=remove_std)
        values = iter((whole + own).squeeze(-1).tolist())
        advantages = [[next(values) for _ in t["states"]] for t in trajectories]
        cases.append({"scale": scale, "gamma": gamma, "advantages": advantages})

versions = {"torch": torch.__version__, "numpy": np.__version__}
origin = {"script": "gigpo.py", "seed": SEED, "sha256": hashlib.sha256(SOURCE.read_bytes()).hexdigest(), **versions}
text = json.dumps({"origin": origin, "trajectories": trajectories, "cases": cases}, indent=1)
(HERE / "gigpo.json").write_text(text + "\n")
