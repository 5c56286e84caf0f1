"""Episodes of the exported recipe, played by `agentrl serve env`: this side samples tokens, all else happens there.

AGENTRL_ENV_URL names another address than the one here, AGENTRL_ENV_TOKEN holds the server's token.
"""

import asyncio
import json
import os

from websockets.asyncio.client import connect

ENV_URL = os.environ.get("AGENTRL_ENV_URL", "ws://127.0.0.1:8002/play")


# Sessions of this process at once; the server's --max-sessions is for all processes together.
PLACES = asyncio.Semaphore(int(os.environ.get("AGENTRL_ENV_SESSIONS", "400")))


def vllm_params(params, max_tokens, stop, stop_ids):
    """Parameters of one draw in vLLM's words. A tag may be a special token, which vLLM leaves out of the text that it compares with stop strings."""
    own = {"stop": stop, "stop_token_ids": stop_ids, "include_stop_str_in_output": True, "skip_special_tokens": False}
    return {**params, **own, "max_tokens": max_tokens}


class EpisodeFailed(RuntimeError):
    """The episode has no reward, because a search or a judge failed; nothing is learned from it."""


async def play(sample, **asked):
    """Plays one episode and returns it: `sequences`, `reward`, `rewards` by name, `turns`, `end`.

    sample: async, from (ids, max_tokens, stop, stop_ids) to (sampled ids, their log-probabilities at temperature 1 in nats).
    asked: split ("train" or "validation"), index, step, max_positions; seed, if not the index.
    """
    token = os.environ.get("AGENTRL_ENV_TOKEN")
    headers = {"authorization": f"Bearer {token}"} if token else None
    # Searches take as long as they take; the server ends them by itself.
    async with PLACES, connect(ENV_URL, additional_headers=headers, open_timeout=120, ping_interval=None, max_size=None) as socket:
        await socket.send(json.dumps({"type": "play", "data": asked}))
        ids = []
        async for text in socket:
            message = json.loads(text)
            data = message["data"]
            if message["type"] == "error":
                raise EpisodeFailed(f"{ENV_URL}: {data['message']}")
            if message["type"] == "episode":
                if data["reward"] is None:
                    raise EpisodeFailed(f"question {asked['index']} of {asked['split']}: {data.get('error') or data.get('unscored')}")
                return data
            ids = ids[: data["keep"]] + data["ids"]
            sampled, logprobs = await sample(ids, data["max_tokens"], data["stop"], data["stop_ids"])
            ids = ids + sampled
            await socket.send(json.dumps({"type": "sampled", "data": {"ids": sampled, "logprobs": logprobs}}))
    raise EpisodeFailed(f"{ENV_URL}: the connection ended within an episode. Is the server still running?")
