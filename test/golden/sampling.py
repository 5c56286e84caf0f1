"""
Golden: which tokens are drawn under temperature, top-k, top-p and min-p, and how often, by transformers' own warpers in the order of its
`generate`. `critical` is the 99 % quantile of chi-squared for the support's degrees of freedom.

python test/golden/sampling.py > test/golden/sampling.json
"""

import json
import sys

sys.path.pop(0)  # This folder has a statistics.py, which is not Python's own.

import scipy
import torch
import transformers
from scipy.stats import chi2
from transformers import GenerationConfig
from transformers.generation.utils import GenerationMixin

SEED, SIZE = 17, 48


class Warped(GenerationMixin):
    """The list that `generate` itself makes of a generation config."""


def main():
    generator = torch.Generator().manual_seed(SEED)
    logits = (2 * torch.randn(1, SIZE, generator=generator)).float()
    cases = []
    for temperature in (0.7, 1.0, 1.5):
        for top_k in (0, 4, 20):
            for top_p in (1.0, 0.9, 0.55):
                for min_p in (0.0, 0.05, 0.3):
                    config = GenerationConfig(
                        do_sample=True, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p or None
                    )
                    config._eos_token_tensor = None
                    warpers = Warped._get_logits_processor(Warped(), config)
                    scores = warpers(torch.zeros(1, 1, dtype=torch.long), logits.clone())
                    probabilities = scores.softmax(-1)[0].double()
                    support = [i for i, score in enumerate(scores[0].tolist()) if score > -float("inf")]
                    cases.append({
                        "temperature": temperature, "topK": top_k, "topP": top_p, "minP": min_p,
                        "support": support, "probabilities": [probabilities[i].item() for i in support],
                        "warpers": [type(each).__name__ for each in warpers],
                        "critical": chi2.ppf(0.99, len(support) - 1) if len(support) > 1 else 0,
                    })  # fmt: skip
    tool = {"transformers": transformers.__version__, "torch": torch.__version__, "scipy": scipy.__version__}
    json.dump({"tool": tool, "seed": SEED, "script": "test/golden/sampling.py", "logits": logits[0].tolist(), "cases": cases}, sys.stdout)


main()
