"""Weights and token ids by formula, as formula-weights.mjs has it: numbers of 32 bits mixed, so that both languages agree."""

import json
from pathlib import Path

import numpy as np
import torch

common = json.loads((Path(__file__).parent / "common-config.json").read_text())


def uniform(place, count):
    with np.errstate(over="ignore"):
        i = np.arange(1, count + 1, dtype=np.uint32)
        x = i * np.uint32(0x9E3779B1) + np.uint32((place + 1) * 0x85EBCA77 % 2**32)
        x = (x ^ (x >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
        x = (x ^ (x >> np.uint32(12))) * np.uint32(0x297A2D39)
        x = x ^ (x >> np.uint32(15))
    return x.astype(np.float64) / 2**31 - 1


ids = torch.tensor(np.floor((uniform(-1, 25) + 1) / 2 * common["vocab_size"]).astype(np.int64))[None]


def fill(parameters):
    for place, name in enumerate(sorted(parameters)):
        shape = parameters[name].shape
        scale = 2.5 / np.sqrt(shape[1]) if len(shape) == 2 else 0.3
        shift = 0 if len(shape) == 2 or name.endswith(".bias") else 1
        numbers = (shift + scale * uniform(place, parameters[name].numel())).astype(np.float32)
        parameters[name].data = torch.tensor(numbers).reshape(shape)
