"""transformers' generate: batched, key/value cache, fused attention, float32, temperature 1, no end before the length is full."""

import json

from player import THREADS, missing, play, settings, versions

try:
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig
except ImportError as error:
    missing(error)


def main():
    given = settings()
    torch.set_num_threads(THREADS)
    with open(given["prompts"], encoding="utf-8") as file:
        prompts = torch.tensor(json.load(file))
    model = AutoModelForCausalLM.from_pretrained(
        given["folder"], dtype=torch.float32, attn_implementation="sdpa"
    ).eval()
    config = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        max_new_tokens=max(1, given["newTokens"]),
        eos_token_id=None,
        pad_token_id=0,
        use_cache=True,
    )
    mask = torch.ones_like(prompts)

    @torch.inference_mode()
    def turn(_):
        if given["newTokens"] == 0:
            model.model(prompts, use_cache=True)
            return {"tokens": 0}
        whole = model.generate(prompts, attention_mask=mask, generation_config=config)
        return {"tokens": whole[:, prompts.shape[1] :].numel()}

    turn({})
    play({"version": versions("transformers", "torch"), "threads": THREADS}, turn)


main()
