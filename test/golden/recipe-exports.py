"""Loads what `agentrl recipes export` writes with the trainer that it is for.

  agentrl recipes export search-r1 --tier smoke --to trl --out DIR
  python -P test/golden/recipe-exports.py trl DIR URL          (URL: .../retrieve of `agentrl serve`)
  python -P test/golden/recipe-exports.py verl DIR CASES URL   (CASES: JSON list of { split, index, messages }; URL: .../play of serve env;
                                                                also skyrl)
  python -P test/golden/recipe-exports.py score DIR CASES      (CASES: JSON list of { messages, references }; needs no package)
  python -P test/golden/recipe-exports.py play DIR CASES URL   (CASES: JSON list of lists of messages)

verl (0.9.1, `--no-deps` with hydra-core, tensordict, ray, codetiming, pillow): hydra composes the configuration over verl's own, which has
every key; verl's dataclasses and validate_config take it; RLHFDataset reads every row; the agent loop plays episodes with a server that
replays messages. skyrl (0.4.0, with skyrl-gym): its configuration class and validate_cfg
take it, PromptDataset reads every row, and the exported generator plays episodes with a client that replays messages. trl (1.16): two steps
of training on the exported policy, on the CPU. Prints one line of JSON.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

MODE, FOLDER = sys.argv[1], Path(sys.argv[2]).resolve()
sys.path.insert(0, str(FOLDER))
if MODE in ("verl", "skyrl", "trl", "play"):
    os.environ["AGENTRL_SEARCH_URL"] = os.environ["AGENTRL_ENV_URL"] = sys.argv[-1]
ORIGINS = json.loads((FOLDER / "origins.json").read_text())
EXPERIMENT = json.loads((FOLDER / "experiment.json").read_text()) if MODE not in ("verl", "skyrl") else None


def cases():
    return json.loads(Path(sys.argv[3]).read_text())


def config_keys():
    return {entry["key"]: entry["value"] for entry in ORIGINS["config"]}


def model_path():
    path = EXPERIMENT["policy"]["path"]
    return str(FOLDER / path) if (FOLDER / path).is_dir() else path


def score():
    from scoring import score

    return [score(case["messages"], case["references"]) for case in cases()]


def play():
    from episode import Episode

    played = []
    for messages in cases():
        episode, replies = Episode(), []
        for message in messages:
            replies.append(episode.step(message))
            if episode.end is not None:
                break
        played.append({"replies": replies, "end": episode.end, "messages": episode.messages})
    return played


def verl():
    import importlib.metadata

    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config
    from verl.utils.dataset.rl_dataset import RLHFDataset

    with initialize_config_dir(str(FOLDER), version_base=None):
        config = compose("config", overrides=[f"agentrl.root={FOLDER}"])
    with initialize_config_dir(str(Path(sys.modules["verl"].__file__).parent / "trainer" / "config"), version_base=None):
        own = OmegaConf.to_container(compose("ppo_trainer"), resolve=False)
    absent = object()
    unknown = []
    for key in config_keys():
        node = own
        for part in key.split("."):
            node = node[part] if isinstance(node, dict) and part in node else absent
        if node is absent:
            unknown.append(key)
    critic = ["critic"] if need_critic(config) else []
    for part in ("actor_rollout_ref.actor", "actor_rollout_ref.rollout", "algorithm", *critic):
        omega_conf_to_dataclass(OmegaConf.select(config, part))
    validate_config(config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))

    tokenizer = AutoTokenizer.from_pretrained(config.actor_rollout_ref.model.path)
    rows, prompts = {}, []
    for split, file in (("train", config.data.train_files), ("validation", config.data.val_files)):
        data = RLHFDataset(data_files=file, tokenizer=tokenizer, config=config.data)
        rows[split] = [data[i] for i in range(len(data))]
        prompts += [each["raw_prompt"][0]["content"] for each in rows[split]]
    played = asyncio.run(all_played_by_verl(config, tokenizer, rows))
    return {
        "version": importlib.metadata.version("verl"), "unknown": unknown, "keys": len(config_keys()), "prompts": prompts,
        "rows": {split: len(each) for split, each in rows.items()}, "played": played,
        "kl": bool(config.actor_rollout_ref.actor.use_kl_loss), "lr": config.actor_rollout_ref.actor.optim.lr,
    }  # fmt: skip


async def all_played_by_verl(config, tokenizer, rows):
    """The episodes of the loop that agentrl_loop.yaml names, made as verl's worker makes it, on CASES: split, index, messages."""
    import hydra
    from omegaconf import OmegaConf
    from verl.experimental.agent_loop.agent_loop import DictConfigWrap, ToolListWrap
    from verl.utils.dataset.rl_dataset import RLHFDataset
    from verl.workers.rollout.replica import TokenOutput

    [named] = OmegaConf.load(config.actor_rollout_ref.rollout.agent.agent_loop_config_path)
    assert named.name == config.actor_rollout_ref.rollout.agent.default_agent_loop

    async def play(case):
        messages = list(case["messages"])

        class Server:
            async def generate(self, request_id, prompt_ids, sampling_params, **_):
                text = messages.pop(0) if len(messages) > 1 else messages[0]
                ids = tokenizer.encode(text, add_special_tokens=False)[: sampling_params["max_tokens"]]
                return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), stop_reason="completed")

        loop = hydra.utils.instantiate(
            named, trainer_config=DictConfigWrap(config), server_manager=Server(), tokenizer=tokenizer, processor=None,
            hf_model_type="llama", dataset_cls=RLHFDataset, data_config=DictConfigWrap(config.data), tools=ToolListWrap([]),
        )  # fmt: skip
        row = rows[case["split"]][case["index"]]
        output = await loop.run({"temperature": 1.0, "logprobs": True}, **row, global_steps=1)
        outputs = output if isinstance(output, list) else [output]
        return {
            "reward": outputs[-1].reward_score, "rewards": outputs[-1].extra_fields["reward_extra_info"],
            "sequences": [described(each, tokenizer) for each in outputs],
        }  # fmt: skip

    return [await play(case) for case in cases()]


def described(output, tokenizer):
    """A sequence as verl stores it: what is trained, what is shown, and the rewards of its tokens."""
    stored = output.as_dict()
    trained = [i for i, mask in zip(output.response_ids, output.response_mask) if mask == 1]
    return {
        "prompt": tokenizer.decode(output.prompt_ids), "response": tokenizer.decode(output.response_ids), "trained": tokenizer.decode(trained),
        "tokens": stored["responses"].numel(), "scores": stored["rm_scores"].tolist(), "logprobs": stored["rollout_log_probs"].numel(),
    }  # fmt: skip


def skyrl():
    import importlib.metadata

    import main
    from skyrl.train.dataset.dataset import PromptDataset
    from skyrl.train.generators.base import BatchMetadata
    from skyrl.train.utils.trainer_utils import validate_generator_output
    from skyrl.train.utils.utils import validate_cfg
    from transformers import AutoTokenizer

    config, max_positions = main.load_config()
    validate_cfg(config)
    tokenizer = AutoTokenizer.from_pretrained(config.trainer.policy.model.path)
    tokenizer.chat_template = tokenizer.chat_template or main.PLAIN
    rows, prompts = {}, []
    for split, files in (("train", config.data.train_data), ("validation", config.data.val_data)):
        data = PromptDataset(files, tokenizer, config.trainer.max_prompt_length, num_workers=1)
        rows[split] = [data[i] for i in range(len(data))]
        prompts += [messages[-1]["content"] for messages, *_ in rows[split]]
    all_messages = [list(case["messages"]) for case in cases()]

    class Client:
        async def generate(self, request, model=None):
            messages = all_messages[int(request["session_ids"][0].split("-")[0])]
            text = messages.pop(0) if len(messages) > 1 else messages[0]
            ids = tokenizer.encode(text, add_special_tokens=False)[: request["sampling_params"]["max_tokens"]]
            return {"responses": [text], "response_ids": [ids], "stop_reasons": ["stop"], "response_logprobs": [[-0.5] * len(ids)]}

    chosen = [rows[case["split"]][case["index"]] for case in cases()]
    batch = {
        "prompts": [each[0] for each in chosen], "env_classes": ["search"] * len(chosen), "env_extras": [each[2] for each in chosen],
        "sampling_params": {"temperature": 1.0}, "trajectory_ids": None, "batch_metadata": BatchMetadata(1, "train"),
    }  # fmt: skip
    output = asyncio.run(main.PlayedGenerator(Client(), "policy", max_positions).generate(batch))
    validate_generator_output(len(chosen), output)
    fields = ("prompt_token_ids", "response_ids", "loss_masks", "rewards", "rollout_logprobs")
    played = []
    for prompt, response, mask, rewards, logprobs in zip(*(output[field] for field in fields)):
        trained = [i for i, kept in zip(response, mask) if kept == 1]
        sequence = {
            "prompt": tokenizer.decode(prompt), "response": tokenizer.decode(response), "trained": tokenizer.decode(trained),
            "tokens": len(response), "scores": rewards, "logprobs": len(logprobs),
        }  # fmt: skip
        played.append({"reward": sum(rewards), "sequences": [sequence]})
    return {
        "version": importlib.metadata.version("skyrl"), "keys": len(config_keys()), "prompts": prompts, "played": played,
        "rows": {split: len(each) for split, each in rows.items()},
    }  # fmt: skip


def trl():
    import torch
    import trl
    from train import make_trainer
    from trl import GRPOConfig

    unknown = [key for key in config_keys() if key not in GRPOConfig.__dataclass_fields__]
    torch.manual_seed(1)
    trainer = make_trainer(
        max_steps=2, use_cpu=True, output_dir="/tmp/recipe-exports-in-trl", save_strategy="no", eval_strategy="no", eval_on_start=False, disable_tqdm=True
    )
    before = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    trainer.train()
    moved = max((weight.detach() - before[name]).abs().max().item() for name, weight in trainer.model.named_parameters())
    logged = [row for row in trainer.state.log_history if "loss" in row]
    shown = ("loss", "reward", "grad_norm", "learning_rate", "kl", "completions/mean_length", "step")
    return {
        "version": trl.__version__, "unknown": unknown, "keys": len(config_keys()), "moved": moved, "rows": len(trainer.train_dataset),
        "steps": [{key: row.get(key) for key in shown} for row in logged],
    }  # fmt: skip


print(json.dumps({"score": score, "play": play, "verl": verl, "skyrl": skyrl, "trl": trl}[MODE]()))
