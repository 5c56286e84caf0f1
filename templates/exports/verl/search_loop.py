"""verl's agent loop for the recipe: messages between the protocol's tags, searches at the retrieval server."""

import asyncio
from uuid import uuid4

from token_episode import STOP, TokenEpisode
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput
from verl.utils.profiler import simple_timer


class SearchLoop(AgentLoopBase):
    """One trajectory of the exported recipe; search_loop.yaml registers it under the name agentrl_search."""

    async def run(self, sampling_params, priority=0, **row):
        # `<search>` may be a special token, which vLLM leaves out of the text that it compares with stop strings.
        sampling = {**sampling_params, "stop": STOP, "include_stop_str_in_output": True, "skip_special_tokens": False}
        prompt = row["raw_prompt"][0]["content"]
        run = TokenEpisode(self.tokenizer, prompt)
        metrics, request, recorded = {}, uuid4().hex, []
        while not run.done:
            with simple_timer("generate_sequences", metrics):
                output = await self.server_manager.generate(
                    request_id=request, prompt_ids=run.ids, sampling_params={**sampling, "max_tokens": run.room()}
                )
            recorded.append(output.log_probs is not None)
            with simple_timer("tool_calls", metrics):
                await asyncio.get_running_loop().run_in_executor(None, run.take, output.token_ids, output.log_probs)
        messages = run.episode.messages
        return AgentLoopOutput(
            prompt_ids=run.prompt_ids,
            response_ids=run.response_ids,
            response_mask=run.mask,
            response_logprobs=run.logprobs if all(recorded) else None,
            num_turns=2 * len(messages),
            metrics=metrics,
            extra_fields={"messages": messages, "prompt_text": prompt, "turn_scores": [], "tool_rewards": []},
        )
