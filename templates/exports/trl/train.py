"""Trains the exported recipe with TRL's GRPOTrainer: python train.py [key=value ...], with keys of GRPOConfig.

Rollouts are made by transformers' generate, one batch of messages after another: for small models. config.py holds the settings.
"""

import json
import sys

import torch
from config import MODEL, SETTINGS
from datasets import load_dataset
from episode import EXPERIMENT, FOLDER
from scoring import score
from token_episode import STOP, TokenEpisode, end_ids
from transformers import AutoModelForCausalLM, AutoTokenizer, StoppingCriteria, StoppingCriteriaList
from trl import GRPOConfig, GRPOTrainer


class EndOfMessage(StoppingCriteria):
    """Ends each message at the protocol's closing tags. Knows how long each is: generate fills up those that end before others."""

    def __init__(self, tokenizer, start, count):
        self.tokenizer, self.start, self.lengths = tokenizer, start, [None] * count

    def __call__(self, input_ids, scores, **_):
        newest = input_ids[:, max(self.start, input_ids.shape[1] - 16) :]
        tails = self.tokenizer.batch_decode(newest, skip_special_tokens=False)
        ended = [any(mark in tail for mark in STOP) for tail in tails]
        for i, last in enumerate(input_ids[:, -1].tolist()):
            if self.lengths[i] is None and (ended[i] or last in end_ids(self.tokenizer)):
                self.lengths[i] = input_ids.shape[1] - self.start
        return torch.tensor(ended, device=input_ids.device)


def sample(model, tokenizer, episodes, sampling):
    """One message for each episode."""
    longest = max(len(each.ids) for each in episodes)
    pad = tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (longest - len(each.ids)) + each.ids for each in episodes], device=model.device)
    seen = torch.tensor([[0] * (longest - len(each.ids)) + [1] * len(each.ids) for each in episodes], device=model.device)
    drawn = (
        {"do_sample": True, "temperature": sampling["temperature"], "top_p": sampling["topP"], "top_k": sampling["topK"], "min_p": sampling.get("minP")}
        if sampling["temperature"] > 0
        else {"do_sample": False}
    )
    end = EndOfMessage(tokenizer, longest, len(episodes))
    # The model's own generation_config.json would change the scores by its penalty.
    written = model.generate(
        input_ids=ids, attention_mask=seen, max_new_tokens=max(each.room() for each in episodes), pad_token_id=pad,
        eos_token_id=sorted(end_ids(tokenizer)), repetition_penalty=1.0, stopping_criteria=StoppingCriteriaList([end]), **drawn,
    )[:, longest:].tolist()  # fmt: skip
    for each, row, length in zip(episodes, written, end.lengths):
        yield each, row[:length][: each.room()]


def rollout(prompts, trainer):
    """Trajectories of a batch of prompts, for GRPOTrainer's rollout_func."""
    model, tokenizer = trainer.accelerator.unwrap_model(trainer.model), trainer.processing_class
    trains = trainer.model.training
    sampling = EXPERIMENT["sampling"] if trains else EXPERIMENT["evaluationSampling"]
    texts = [prompt if isinstance(prompt, str) else prompt[-1]["content"] for prompt in prompts]
    episodes = [TokenEpisode(tokenizer, text) for text in texts]
    model.eval()
    with torch.no_grad():
        while active := [each for each in episodes if not each.done]:
            for each, row in list(sample(model, tokenizer, active, sampling)):
                each.take(row)
    model.train(trains)
    return {
        "prompt_ids": [each.prompt_ids for each in episodes],
        "completion_ids": [each.response_ids or [tokenizer.eos_token_id] for each in episodes],
        "env_mask": [each.mask or [0] for each in episodes],
        # TRL computes them with the weights that sampled.
        "logprobs": None,
        "messages": [each.episode.messages for each in episodes],
        "prompt_text": texts,
        "searches": [each.episode.searches for each in episodes],
    }


def recipe_reward(messages, references, prompt_text, log_metric=None, **_):
    """The recipe's combined reward; the single ones are logged."""
    values = [score(said, accepted, asked) for said, accepted, asked in zip(messages, references, prompt_text)]
    if log_metric is not None:
        for name in values[0]:
            log_metric(f"recipe/{name}", sum(each[name] for each in values) / len(values))
    return [each["score"] for each in values]


def learning_rates(optimizer, settings):
    """The recipe's own schedule: one rate for each optimizer step."""
    rates = EXPERIMENT["learningRates"]
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rates[min(step, len(rates) - 1)] / settings.learning_rate
    )


class RecipeTrainer(GRPOTrainer):
    def create_scheduler(self, num_training_steps, optimizer=None):
        self.lr_scheduler = learning_rates(optimizer or self.optimizer, self.args)
        return self.lr_scheduler


def make_trainer(**overrides):
    path = str(FOLDER / MODEL) if (FOLDER / MODEL).is_dir() else MODEL
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    files = {split: str(FOLDER / "data" / f"{split}.jsonl") for split in ("train", "validation")}
    rows = load_dataset("json", data_files=files)
    adapters = EXPERIMENT["policy"]["lora"]
    if adapters is not None:
        from peft import LoraConfig

        adapters = LoraConfig(task_type="CAUSAL_LM", **adapters)
    return RecipeTrainer(
        model=model, processing_class=tokenizer, reward_funcs=recipe_reward, rollout_func=rollout, peft_config=adapters,
        train_dataset=rows["train"], eval_dataset=rows["validation"], args=GRPOConfig(**{**SETTINGS, **overrides}),
    )  # fmt: skip


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    make_trainer(**{key: parsed(value) for key, value in given.items()}).train()
