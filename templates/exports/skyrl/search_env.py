"""SkyRL's search environment with the recipe's own tags, budgets and rewards."""

import functools

from episode import BUDGETS, EXPERIMENT, FOLDER, Episode
from scoring import score
from skyrl_gym.envs.base_text_env import BaseTextEnvStepOutput
from skyrl_gym.envs.search.env import SearchEnv


@functools.cache
def tokenizer():
    from transformers import AutoTokenizer

    path = EXPERIMENT["policy"]["path"]
    return AutoTokenizer.from_pretrained(FOLDER / path if (FOLDER / path).is_dir() else path)


def shortened(text):
    """The first tokens of a reply, as its budget has it."""
    limit = BUDGETS["observationTokens"]
    if limit is None:
        return text
    ids = tokenizer().encode(text, add_special_tokens=False)
    if len(ids) <= limit:
        return text
    return tokenizer().decode(ids[:limit], skip_special_tokens=False, clean_up_tokenization_spaces=False)


class RecipeSearchEnv(SearchEnv):
    """env_class search. Its settings are those of skyrl-gym's search: search_url is a server of /retrieve."""

    def __init__(self, env_config, extras={}):
        super().__init__(env_config, extras)
        self.episode = Episode()

    def init(self, prompt):
        self.prompt = prompt[-1]["content"]
        return super().init(prompt)

    def step(self, action):
        self.turns += 1
        reply = self.episode.step(action)
        if reply is not None:
            shown = [{"role": "user", "content": shortened(reply)}]
            return BaseTextEnvStepOutput(observations=shown, reward=0.0, done=False, metadata={})
        self.values = score(self.episode.messages, list(self.ground_truth["target"]), self.prompt)
        return BaseTextEnvStepOutput(observations=[], reward=self.values["score"], done=True, metadata=self.values)

    def get_metrics(self):
        return {**getattr(self, "values", {}), "searches": self.episode.searches, "turns": len(self.episode.messages)}
