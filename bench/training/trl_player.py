"""A GRPO step with TRL's GRPOTrainer and transformers' generation: float32, no checkpoints, no logs, completions of one length."""

import json
import os
import re
import string
import sys
import tempfile
import time
from collections import Counter

from player import THREADS, Clock, missing, say, settings, versions

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", TOKENIZERS_PARALLELISM="false")

try:
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    missing(error)


def words(text):
    kept = "".join(each for each in text.lower() if each not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def token_f1(completions, references, **_):
    """SQuAD's F1 of a completion against the first reference."""
    scores = []
    for completion, accepted in zip(completions, references):
        written, wanted = words(completion), words(accepted[0])
        common = sum((Counter(written) & Counter(wanted)).values())
        scores.append(2 * common / (len(written) + len(wanted)) if common else 0.0)
    return scores


class Turns(TrainerCallback):
    """Lets the trainer go on when it is told to: everything between two ends of a step is a step's time."""

    def __init__(self, warm_up, counts):
        self.warm_up, self.left, self.counts, self.times = warm_up, warm_up, counts, 0
        self.clock = None

    def on_step_end(self, args, state, control, **kwargs):
        self.left -= 1
        if self.left > 0:
            return control
        if self.clock is None:
            say({"version": versions("trl", "transformers", "torch"), "threads": THREADS, **self.counts})
        else:
            say({**self.clock.seconds(self.times), **self.counts})
        line = sys.stdin.readline()
        if not line:
            control.should_training_stop = True
            return control
        self.times = self.left = json.loads(line).get("times", 1)
        self.clock = Clock()
        return control


class CountingTrainer(GRPOTrainer):
    """Counts tokens, and how long sampling took, of the last step."""

    def __init__(self, *args, counts, **kwargs):
        self.counts = counts
        super().__init__(*args, **kwargs)

    def _generate(self, *args, **kwargs):
        start = time.perf_counter()
        result = super()._generate(*args, **kwargs)
        self.counts["rollout"] = time.perf_counter() - start
        return result

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        self.counts["sampled"] = int(output["completion_mask"].sum())
        self.counts["computed"] = self.counts["sampled"] + int(output["prompt_mask"].sum())
        return output


def main():
    given = settings()
    torch.set_num_threads(THREADS)
    with open(given["prompts"], encoding="utf-8") as file:
        dataset = Dataset.from_list(json.load(file))
    tokenizer = PreTrainedTokenizerFast.from_pretrained(given["folder"], padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(given["folder"], dtype=torch.float32)
    rows = len(dataset) * given["groupSize"]
    counts = {}
    with tempfile.TemporaryDirectory() as out:
        config = GRPOConfig(
            output_dir=out,
            per_device_train_batch_size=given["microBatch"],
            gradient_accumulation_steps=rows // given["microBatch"],
            num_generations=given["groupSize"],
            max_completion_length=given["newTokens"],
            # No end before the length is full, as with us.
            generation_kwargs={"min_new_tokens": given["newTokens"], "suppress_tokens": tokenizer.all_special_ids},
            temperature=1.0,
            beta=0.0,
            num_iterations=1,
            learning_rate=given["learningRate"],
            lr_scheduler_type="constant",
            max_steps=1_000_000,
            use_cpu=True,
            bf16=False,
            # Memory is no matter here: what costs time without need is left out.
            gradient_checkpointing=False,
            dataloader_pin_memory=False,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        trainer = CountingTrainer(
            model=model,
            reward_funcs=token_f1,
            args=config,
            train_dataset=dataset,
            processing_class=tokenizer,
            callbacks=[Turns(2, counts)],
            counts=counts,
        )
        trainer.train()


main()
