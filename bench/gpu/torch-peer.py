"""PyTorch and transformers on the same card: one model shape, the same rows, sequences and optimiser. A JSON object a line on stdout.

python torch-peer.py '{"model": FOLDER, "device": "cuda", "seconds": 10, "work": {...}}': the folder's config.json, fresh weights.
"""

import json
import sys
import time


def emit(**row):
    print(json.dumps(row), flush=True)


job = json.loads(sys.argv[1])
try:
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as error:
    emit(failed=f"missing: {error}")
    sys.exit(0)

device = job["device"]
if device == "cuda" and not torch.cuda.is_available():
    emit(failed=f"missing: torch {torch.__version__} finds no CUDA card")
    sys.exit(0)

transformers.logging.set_verbosity_error()
emit(versions={"python": sys.version.split()[0], "torch": torch.__version__, "transformers": transformers.__version__,
               "cuda": torch.version.cuda})
work, limit = job["work"], job["seconds"]


def finish():
    if device == "cuda":
        torch.cuda.synchronize()


def timed(run, seconds):
    """Median and count of runs, after one that is not counted."""
    begun = time.perf_counter()
    run()
    finish()
    first = time.perf_counter() - begun
    times, begun = [], time.perf_counter()
    while not times or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        run()
        finish()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2], len(times), first


def fresh_model(dtype):
    config = AutoConfig.from_pretrained(job["model"])
    with torch.device(device):
        try:
            return AutoModelForCausalLM.from_config(config, dtype=dtype)
        except TypeError:  # Before transformers 4.56.
            return AutoModelForCausalLM.from_config(config, torch_dtype=dtype)


def adapted(model):
    import peft

    modules = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    lora = work["lora"]
    config = peft.LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=modules, task_type="CAUSAL_LM")
    return peft.get_peft_model(model, config)


def train(dtype, mode, micro_rows):
    rows, length = work["training"]["rows"], work["training"]["length"]
    model = fresh_model(dtype)
    model.train()
    whole = adapted(model) if mode == "lora" else model
    trained = [each for each in whole.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-6, betas=(0.9, 0.95), weight_decay=0.01, fused=device == "cuda")
    ids = torch.randint(model.config.vocab_size, (rows, length + 1), device=device)
    start = length // 2
    advantages = torch.tensor([1.0, -1.0] * rows, device=device)[:rows, None]
    old = {}

    def score(at):
        """Scores at the half of the positions that count, as ours are."""
        hidden = model.model(ids[at : at + micro_rows, :-1]).last_hidden_state[:, start:]
        logits = model.lm_head(hidden).float()
        targets = ids[at : at + micro_rows, start + 1 :, None]
        return logits.log_softmax(-1).gather(-1, targets)[..., 0]

    def learn():
        for at in range(0, rows, micro_rows):
            logprobs = score(at)
            known = old.setdefault(at, logprobs.detach())
            gap = logprobs - known
            ratio, gains = gap.exp(), advantages[at : at + micro_rows]
            loss = -torch.minimum(ratio * gains, ratio.clamp(0.8, 1.2) * gains)
            loss = loss + 0.001 * ((-gap).exp() - 1 + gap)
            (loss.sum() / (rows * (length - start))).backward()

    def step():
        learn()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    seconds, runs, first = timed(step, limit)
    emit(kind="train", mode=mode, microBatchRows=micro_rows, tokensPerSecond=rows * length / seconds, stepSeconds=seconds,
         steps=runs, buildSeconds=max(0, first - seconds), **facts(dtype))


def generate(dtype):
    sampling = work["sampling"]
    model = fresh_model(dtype).eval()
    ids = torch.randint(model.config.vocab_size, (sampling["sequences"], sampling["prompt"]), device=device)

    def write(count):
        with torch.inference_mode():
            model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, min_new_tokens=count,
                           do_sample=True, top_k=0, top_p=1.0, pad_token_id=1)

    filling, _, _ = timed(lambda: write(1), limit / 4)
    whole, runs, _ = timed(lambda: write(sampling["fresh"] + 1), limit)
    emit(kind="generate", tokensPerSecond=sampling["sequences"] * sampling["fresh"] / (whole - filling),
         prefillTokensPerSecond=sampling["sequences"] * sampling["prompt"] / filling,
         togetherTokensPerSecond=sampling["sequences"] * (sampling["fresh"] + 1) / whole, steps=runs, **facts(dtype))


def facts(dtype):
    peak = torch.cuda.max_memory_reserved() / 2**20 if device == "cuda" else None
    return {"dtype": str(dtype).removeprefix("torch."), "gpuPeakMiB": peak and round(peak)}


def guarded(kind, dtype, work, **also):
    """Whether it went well."""
    try:
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        work()
        return True
    except Exception as error:  # Out of memory, a missing peft: a row, and the others go on.
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    # Here the failed attempt's tensors are let go of.
    if device == "cuda":
        torch.cuda.empty_cache()
    emit(kind=kind, dtype=str(dtype).removeprefix("torch."), failed=reason, **also)
    return False


for dtype in (torch.bfloat16, torch.float32):
    for mode in ("full", "lora"):
        for micro_rows in job["microBatchRows"]:
            if guarded("train", dtype, lambda: train(dtype, mode, micro_rows), mode=mode, microBatchRows=micro_rows):
                break
    guarded("generate", dtype, lambda: generate(dtype))
