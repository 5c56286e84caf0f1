"""Trains the exported recipe with SkyRL: python main.py [key=value ...], with keys of SkyRL's configuration."""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
os.chdir(FOLDER)
sys.path.insert(0, str(FOLDER))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))

import ray  # noqa: E402
from episode import EXPERIMENT  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from skyrl.train.config.config import SkyRLTrainConfig  # noqa: E402
from skyrl.train.entrypoints.main_base import BasePPOExp  # noqa: E402
from skyrl.train.utils.utils import initialize_ray, validate_cfg  # noqa: E402
from skyrl_gym.envs import deregister, register  # noqa: E402
from token_episode import cut_tokens  # noqa: E402

# Prompts as they are, for policies without a chat template.
PLAIN = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def load_config(arguments=()):
    """config.yaml with overrides; paths start from this folder."""
    config = OmegaConf.load(FOLDER / "config.yaml")
    config.agentrl.root = str(FOLDER)
    OmegaConf.resolve(config)
    del config["agentrl"]
    return SkyRLTrainConfig.from_dict_config(OmegaConf.merge(config, OmegaConf.from_cli(list(arguments))))


class CuttingClient:
    """An inference client whose messages end at the protocol's cut. SkyRL keeps what follows a tag, and leaves special tokens out of texts."""

    def __init__(self, client, tokenizer):
        self.client, self.tokenizer = client, tokenizer

    def __getattr__(self, name):
        return getattr(self.client, name)

    async def generate(self, *args, **kwargs):
        output = await self.client.generate(*args, **kwargs)
        logprobs = output.get("response_logprobs")
        for i, ids in enumerate(output["response_ids"]):
            kept, output["responses"][i] = cut_tokens(self.tokenizer, list(ids))
            if len(kept) < len(ids):
                output["stop_reasons"][i] = "stop"
            output["response_ids"][i] = kept
            if logprobs is not None and logprobs[i] is not None:
                logprobs[i] = logprobs[i][: len(kept)]
        return output


class RecipeExp(BasePPOExp):
    def get_generator(self, cfg, tokenizer, inference_engine_client):
        return super().get_generator(cfg, tokenizer, CuttingClient(inference_engine_client, tokenizer))

    def get_tokenizer(self, *args, **kwargs):
        tokenizer = super().get_tokenizer(*args, **kwargs)
        if EXPERIMENT["policy"]["chat"] is None:
            tokenizer.chat_template = PLAIN
        return tokenizer


def register_environment():
    """Puts the recipe's environment in the place of skyrl-gym's search, whose settings it has."""
    deregister("search")
    register(id="search", entry_point="search_env:RecipeSearchEnv")


@ray.remote(num_cpus=1)
def train(config):
    register_environment()
    RecipeExp(config).run()


def main():
    config = load_config(sys.argv[1:])
    # The environment reads the address from the experiment; both names of it stay one.
    os.environ.setdefault("AGENTRL_SEARCH_URL", config.environment.skyrl_gym.search.search_url)
    validate_cfg(config)
    initialize_ray(config)
    ray.get(train.remote(config))


if __name__ == "__main__":
    main()
