"""Plays episodes of `agentrl serve env` with OpenEnv's own client (openenv 0.10.0).

  agentrl serve env --recipe search-r1 --tier smoke --max-sessions 64 --port 8002
  python test/golden/openenv-client.py http://127.0.0.1:8002 200 64

EPISODES episodes, CONCURRENT at once, which must be the server's --max-sessions. Then CONCURRENT sessions stay open and one more must be refused. Prints one line of JSON; exits with 1 if anything
failed.
"""

import asyncio
import json
import sys
import time

from openenv import GenericEnvClient
from openenv_policy import next_message

URL, EPISODES, CONCURRENT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


async def episode(seed: int) -> dict:
    async with GenericEnvClient(base_url=URL) as env:
        result = await env.reset(seed=seed, episode_id=f"e{seed}")
        shown, total = [], 0.0
        while not result.done:
            shown.append(result.observation["text"])
            result = await env.step({"message": next_message(shown)})
            total += result.reward or 0.0
        state = await env.state()
        assert state["episode_id"] == f"e{seed}" and state["step_count"] == len(shown), state
        assert abs(total - result.metadata["total_reward"]) < 1e-9, result
        return {"seed": seed, "reward": total, "turns": len(shown), "end": result.metadata["end"]}


async def over_capacity() -> str:
    clients = [GenericEnvClient(base_url=URL) for _ in range(CONCURRENT)]
    try:
        await asyncio.gather(*(client.reset(seed=0) for client in clients))
        async with GenericEnvClient(base_url=URL) as extra:
            try:
                await extra.reset(seed=0)
            except RuntimeError as error:
                return str(error)
        return "not refused"
    finally:
        await asyncio.gather(*(client.close() for client in clients))


async def main() -> int:
    gate = asyncio.Semaphore(CONCURRENT)

    async def gated(seed: int):
        async with gate:
            return await episode(seed)

    begun = time.perf_counter()
    done = await asyncio.gather(*(gated(seed) for seed in range(EPISODES)), return_exceptions=True)
    seconds = time.perf_counter() - begun
    errors = [repr(each) for each in done if isinstance(each, BaseException)]
    played = sorted((each for each in done if isinstance(each, dict)), key=lambda each: each["seed"])
    refused = await over_capacity()
    rewards = [each["reward"] for each in played]
    print(json.dumps({
        "episodes": len(played), "errors": len(errors), "firstError": errors[:1],
        "meanReward": sum(rewards) / max(1, len(rewards)), 
        "turns": sum(each["turns"] for each in played), "seconds": round(seconds, 2), "refused": refused,
    }))  # fmt: skip
    return 0 if not errors and "CAPACITY_REACHED" in refused else 1


sys.exit(asyncio.run(main()))
