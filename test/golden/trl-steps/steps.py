"""Runs an exported train.py of TRL and records, from inside, every batch that TRL trains on and what it makes of it.

  python -P test/golden/trl-steps/steps.py FOLDER URL [key=value ...]

FOLDER: of `agentrl recipes export ... --to trl`; URL: .../retrieve of `agentrl serve`; key=value: arguments of train.py. trl-steps.nightly.test.ts
makes both and calls it. Prints one line of JSON.

train.py runs as it is. A random model never searches, so generate's scores are changed here: most messages begin with the tokens of a script
(a search, an answer, text without an action), and the model goes on by itself until its message ends; other messages are its own from the
first token. `sampled` are those tokens, collected at each step of generate, whatever train.py makes of them.
"""

import importlib.metadata
import json
import random
import runpy
import sys
import tempfile
from pathlib import Path

import torch
import transformers
import trl
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList

FOLDER, URL = Path(sys.argv[1]).resolve(), sys.argv[2]
SEED = 5
torch.set_num_threads(1)
sys.path.insert(0, str(FOLDER))

import episode  # noqa: E402
import token_episode  # noqa: E402

episode.SEARCH_URL = URL
PROTOCOL, BUDGETS = episode.PROTOCOL, episode.BUDGETS
ROWS = {row["prompt"][-1]["content"]: row for row in map(json.loads, (FOLDER / "data" / "train.jsonl").read_text().splitlines())}
EPISODES, ROLLOUTS, UPDATES = [], [], []


def script(prompt, number):
    """The beginnings of the messages of one trajectory, as text; None: the policy writes all of that message."""
    row, source = ROWS[prompt], random.Random(f"{SEED} {number}")
    (call, end_call), (answer, end_answer) = PROTOCOL["call"], PROTOCOL["answer"]
    words = row["question"].rstrip("?").split()
    query = " ".join(words[-source.randint(2, 5) :])
    own = [None] if BUDGETS["turnTokens"] < 100 else []
    searches = [
        f"<think>I look for it.</think>\n{call}{query}{end_call}",
        f"{call} {query} {end_call}\n\nand more",
        f"{call}{query}{end_call}",
        f"{call}{end_call}",
        f"{call}São Paulo, 東京 🦙{end_call}",
        "I do not know.<EOS>",
        "I do not know.<|endoftext|>",
        *own,
    ]
    right, wrong = f"{answer} {row['references'][0]} {end_answer}", f"{answer}nobody{end_answer}\n\n"
    lasts = [right, right, right, wrong, wrong, f"{right}{call}{query}{end_call}", *own]
    count = source.choice([0, 1, 1, 2, 2, 3, 9])
    return [source.choice(searches[:4] if i == 0 else searches) for i in range(count)] + [source.choice(lasts)]


class Recorded(token_episode.TokenEpisode):
    """Knows its script, and what the policy sampled."""

    count = 0

    def __init__(self, tokenizer, prompt):
        super().__init__(tokenizer, prompt)
        if all(each.done for each in EPISODES):
            EPISODES.clear()
        EPISODES.append(self)
        self.prompt, self.script, self.sampled = prompt, script(prompt, Recorded.count), []
        Recorded.count += 1

    def forced(self):
        number = len(self.episode.messages)
        text = self.script[number] if number < len(self.script) else None
        return [] if text is None else self.tokenizer.encode(text.replace("<EOS>", self.tokenizer.eos_token), add_special_tokens=False)


class Force(LogitsProcessor):
    """The tokens of the scripts, as long as they last. What it gets must be the model's own scores: no setting of the model's files counts."""

    def __init__(self, forced, start, own):
        self.forced, self.start, self.own = forced, start, own

    def __call__(self, input_ids, scores):
        at = input_ids.shape[1] - self.start
        if at == 0:
            torch.testing.assert_close(scores, self.own, atol=1e-4, rtol=0)
        for row, ids in enumerate(self.forced):
            if at < len(ids):
                scores[row] = float("-inf")
                scores[row, ids[at]] = 0.0
        return scores


class Watch(StoppingCriteria):
    """Collects what each row samples until EOS, a closing tag or its budget; stops nothing."""

    def __init__(self, episodes):
        self.episodes, self.rows, self.open = episodes, [[] for _ in episodes], [True] * len(episodes)

    def __call__(self, input_ids, scores, **_):
        for i, each in enumerate(self.episodes):
            if not self.open[i]:
                continue
            self.rows[i].append(int(input_ids[i, -1]))
            text = each.tokenizer.decode(self.rows[i], skip_special_tokens=False)
            ended = self.rows[i][-1] in token_episode.end_ids(each.tokenizer) or any(mark in text for mark in PROTOCOL["stop"])
            self.open[i] = not ended and len(self.rows[i]) < each.room()
        return torch.zeros(len(self.rows), dtype=torch.bool, device=input_ids.device)


def positions(mask):
    return (mask.cumsum(1) - 1).clamp(min=0)


generate = transformers.GenerationMixin.generate


def watched(model, *args, input_ids, stopping_criteria, **more):
    active = [each for each in EPISODES if not each.done]
    watch = Watch(active)
    own = model(input_ids=input_ids, attention_mask=more["attention_mask"], position_ids=positions(more["attention_mask"])).logits[:, -1]
    force = Force([each.forced() for each in active], input_ids.shape[1], own)
    written = generate(
        model, *args, input_ids=input_ids, stopping_criteria=StoppingCriteriaList([*stopping_criteria, watch]),
        logits_processor=LogitsProcessorList([force]), **more,
    )  # fmt: skip
    for each, row in zip(active, watch.rows):
        each.sampled.append(row)
    return written


class RecordingTrainer(trl.GRPOTrainer):
    """Keeps what GRPOTrainer computes; computes nothing else."""

    def _calculate_rewards(self, *args, **kwargs):
        self.rewards = super()._calculate_rewards(*args, **kwargs)
        return self.rewards

    def _generate_and_score_completions(self, inputs):
        batch = super()._generate_and_score_completions(inputs)
        batch["row"] = torch.arange(len(inputs))
        ROLLOUTS.append([
            {
                "prompt": each.prompt, "references": ROWS[each.prompt]["references"], "sampled": each.sampled, "end": each.episode.end,
                "reward": self.rewards[i, 0].item(), "advantage": batch["advantages"][i].item(),
            }
            for i, each in enumerate(EPISODES)
        ])  # fmt: skip
        return batch

    def _get_per_token_logps_and_entropies(self, *args, **kwargs):
        computed = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        self.logprobs = computed[0].detach()
        return computed

    def _compute_loss(self, model, inputs):
        loss = super()._compute_loss(model, inputs)
        if len(UPDATES) == self.state.global_step:
            UPDATES.append({"rollout": len(ROLLOUTS) - 1, "loss": 0.0, "rows": [], "logprobs": []})
        update = UPDATES[-1]
        update["loss"] += loss.item()
        trained = (inputs["completion_mask"] * inputs["tool_mask"]).bool()
        for i, number in enumerate(inputs["row"].tolist()):
            row = ROLLOUTS[-1][number]
            seen = inputs["completion_mask"][i].bool()
            assert inputs["advantages"][i].item() == row["advantage"]
            row["promptIds"] = inputs["prompt_ids"][i][inputs["prompt_mask"][i].bool()].tolist()
            row["completionIds"] = inputs["completion_ids"][i][seen].tolist()
            row["mask"] = runs(inputs["tool_mask"][i][seen].tolist())
            for key, kept in (("old", "old_per_token_logps"), ("reference", "ref_per_token_logps")):
                if kept in inputs:
                    row[key] = rounded(inputs[kept][i][trained[i]])
            update["rows"].append(number)
            update["logprobs"].append(rounded(self.logprobs[i][trained[i]]))
        return loss


def runs(mask):
    """Lengths of runs of 1, 0, 1, ...; the first may be 0."""
    lengths, value = [0], 1
    for each in mask:
        if each != value:
            lengths.append(0)
            value = each
        lengths[-1] += 1
    return lengths


def rounded(numbers):
    return [round(each, 6) for each in numbers.tolist()]


class EndOfRun(transformers.TrainerCallback):
    def on_train_end(self, args, state, control, **_):
        logged = [row for row in state.log_history if "loss" in row]
        assert len(logged) == len(UPDATES)
        for update, row in zip(UPDATES, logged):
            update.update(logged=row["loss"], gradNorm=row["grad_norm"], learningRate=row["learning_rate"])


transformers.GenerationMixin.generate = watched
trl.GRPOTrainer = RecordingTrainer
token_episode.TokenEpisode = Recorded
transformers.trainer.DEFAULT_CALLBACKS.append(EndOfRun)

with tempfile.TemporaryDirectory() as out:
    quiet = ["use_cpu=true", "save_strategy=no", "eval_strategy=no", "eval_on_start=false", "disable_tqdm=true", f"output_dir={out}"]
    sys.argv = ["train.py", *quiet, *sys.argv[3:]]
    transformers.set_seed(SEED)
    runpy.run_path(str(FOLDER / "train.py"), run_name="__main__")

packages = ["trl", "transformers", "torch", "tokenizers", "accelerate"]
versions = {"python": sys.version.split()[0], **{name: importlib.metadata.version(name) for name in packages}}
print(json.dumps({"versions": versions, "seed": SEED, "rollouts": ROLLOUTS, "updates": UPDATES}))
