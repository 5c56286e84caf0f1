"""verl's agent loop for the recipe: verl samples and trains, `agentrl serve env` plays the episodes and gives the rewards."""

import math
from typing import Any
from uuid import uuid4

import torch
from played import play, vllm_params
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.utils.profiler import simple_timer


class PlayedOutput(AgentLoopOutput):
    """A sequence with a reward at each of its tokens, so that rewards of turns stay where they were earned."""

    token_rewards: list[float]

    def as_dict(self) -> dict[str, Any]:
        output = super().as_dict()
        output["rm_scores"] = torch.tensor(output.pop("token_rewards"), dtype=torch.float32)
        return output


class AgentrlLoop(AgentLoopBase):
    """One trajectory of the exported recipe; agentrl_loop.yaml registers it under the name agentrl."""

    async def run(self, sampling_params, priority=0, **row):
        metrics, request = {}, uuid4().hex

        async def sample(ids, *limits):
            with simple_timer("generate_sequences", metrics):
                output = await self.server_manager.generate(
                    request_id=request, prompt_ids=ids, sampling_params=vllm_params(sampling_params, *limits)
                )
            return list(output.token_ids), [float(each) for each in output.log_probs]

        rollout = self.rollout_config
        info = row["extra_info"]
        episode = await play(
            sample,
            split=info["split"],
            index=int(info["index"]),
            step=max(0, int(row.get("global_steps", 1)) - 1),
            max_positions=rollout.prompt_length + rollout.response_length,
        )
        # Only a recipe that builds its prompts anew has several sequences; then each ends with the trajectory's reward.
        for each in episode["sequences"][:-1]:
            each["rewards"][-1] += episode["reward"]
        values = {name: math.nan if value is None else float(value) for name, value in episode["rewards"].items()}
        outputs = [
            PlayedOutput(
                prompt_ids=each["prompt"],
                response_ids=each["response"],
                response_mask=each["mask"],
                response_logprobs=each["logprobs"],
                token_rewards=each["rewards"],
                reward_score=episode["reward"],
                num_turns=2 * episode["turns"],
                metrics=metrics,
                extra_fields={"reward_extra_info": values, "turn_scores": [], "tool_rewards": []},
            )
            for each in episode["sequences"]
        ]
        return outputs[0] if len(outputs) == 1 else outputs
