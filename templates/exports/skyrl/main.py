"""Trains the exported recipe with SkyRL: python main.py [key=value ...], with keys of SkyRL's configuration.

SkyRL samples and trains; `agentrl serve env` plays the episodes and gives the rewards.
"""

import asyncio
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
os.chdir(FOLDER)
sys.path.insert(0, str(FOLDER))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))

import ray  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from played import play, vllm_params  # noqa: E402
from skyrl.backends.skyrl_train.inference_servers.utils import resolve_policy_model_name  # noqa: E402
from skyrl.train.config.config import SkyRLTrainConfig  # noqa: E402
from skyrl.train.entrypoints.main_base import BasePPOExp  # noqa: E402
from skyrl.train.generators.base import GeneratorInterface  # noqa: E402
from skyrl.train.generators.utils import get_rollout_metrics  # noqa: E402
from skyrl.train.utils.utils import initialize_ray, validate_cfg  # noqa: E402

# The lengths of prompts are measured by a template; agentrl renders the prompts themselves.
PLAIN = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def load_config(arguments=()):
    """config.yaml with overrides, and tokens of the longest sequence; paths start from this folder."""
    config = OmegaConf.load(FOLDER / "config.yaml")
    config.agentrl.root = str(FOLDER)
    OmegaConf.resolve(config)
    max_positions = config.agentrl.max_positions
    del config["agentrl"]
    return SkyRLTrainConfig.from_dict_config(OmegaConf.merge(config, OmegaConf.from_cli(list(arguments)))), max_positions


class PlayedGenerator(GeneratorInterface):
    """Trajectories of the exported recipe, one sequence each, with a reward at every token."""

    def __init__(self, client, model, max_positions):
        self.client, self.model, self.max_positions = client, model, max_positions

    async def generate(self, input_batch, disable_tqdm=False):
        params, metadata = input_batch.get("sampling_params") or {}, input_batch["batch_metadata"]
        step = max(0, metadata.global_step - 1)
        infos = [extras["extra_info"] for extras in input_batch["env_extras"]]
        episodes = await asyncio.gather(*(self.episode(info, params, step, f"{i}-{step}") for i, info in enumerate(infos)))
        sequences = [each["sequences"][0] for each in episodes]
        responses, masks = [each["response"] for each in sequences], [each["mask"] for each in sequences]
        rewards = [each["rewards"] for each in sequences]
        values = [{**each["rewards"], "turns": each["turns"]} for each in episodes]
        known = [{name: value for name, value in each.items() if value is not None} for each in values]
        return {
            "prompt_token_ids": [each["prompt"] for each in sequences], "response_ids": responses, "rewards": rewards, "loss_masks": masks,
            "stop_reasons": ["stop" if each["end"] == "answered" else "length" for each in episodes],
            "rollout_metrics": get_rollout_metrics(responses, rewards, known, input_batch["env_classes"], masks),
            "rollout_logprobs": [each["logprobs"] for each in sequences], "rollout_expert_indices": None, "rollout_sample_support": None,
        }  # fmt: skip

    async def episode(self, info, params, step, session):
        async def sample(ids, *limits):
            request = {"prompt_token_ids": [ids], "session_ids": [session], "sampling_params": vllm_params(params, *limits)}
            output = await self.client.generate(request, model=self.model)
            return list(output["response_ids"][0]), [float(each) for each in output["response_logprobs"][0]]

        return await play(sample, split=info["split"], index=int(info["index"]), step=step, max_positions=self.max_positions)


class RecipeExp(BasePPOExp):
    def __init__(self, cfg, max_positions):
        self.max_positions = max_positions
        super().__init__(cfg)

    def get_generator(self, cfg, tokenizer, inference_engine_client):
        return PlayedGenerator(inference_engine_client, resolve_policy_model_name(cfg), self.max_positions)

    def get_tokenizer(self, *args, **kwargs):
        tokenizer = super().get_tokenizer(*args, **kwargs)
        tokenizer.chat_template = tokenizer.chat_template or PLAIN
        return tokenizer


@ray.remote(num_cpus=1)
def train(config, max_positions):
    RecipeExp(config, max_positions).run()


def main():
    config, max_positions = load_config(sys.argv[1:])
    validate_cfg(config)
    initialize_ray(config)
    ray.get(train.remote(config, max_positions))


if __name__ == "__main__":
    main()
