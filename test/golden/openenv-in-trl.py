"""Trains two steps of TRL's GRPO (1.16) in `agentrl serve env`, through TRL's `environment_factory`.

  agentrl serve env --recipe search-r1 --tier smoke --port 8002
  python -P test/golden/openenv-in-trl.py http://127.0.0.1:8002 POLICY    (POLICY: datasets/base-policy, for its tokenizer)

The tools of the class write the recipe's messages. First they are called by hand. Then a tiny model, which has learned to answer by a call
of the tool and nothing else, trains; TRL runs its calls. Prints one line of JSON.
"""

import json
import sys
from pathlib import Path

import torch
import trl
from datasets import Dataset
from openenv import GenericEnvClient
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer

URL, POLICY = sys.argv[1], sys.argv[2]


class SearchEnvironment:
    """One episode of search-r1; the two tools write its messages."""

    def __init__(self):
        self._client = GenericEnvClient(base_url=URL).sync()
        self._total, self._done = 0.0, False

    def reset(self, seed: int, **_) -> str:
        self._total, self._done = 0.0, False
        return self._client.reset(seed=seed).observation["text"]

    def search(self, query: str) -> str:
        """Search the encyclopedia.

        Args:
            query: What to search for.
        """
        return self._say(f"<search>{query}</search>")

    def answer(self, text: str) -> str:
        """Give the final answer.

        Args:
            text: The answer, as short as possible.
        """
        return self._say(f"<answer>{text}</answer>") or "The episode is over."

    def get_reward(self) -> float:
        return self._total

    def _say(self, message: str) -> str:
        if self._done:
            return "The episode is over."
        result = self._client.step({"message": message})
        self._total, self._done = self._total + (result.reward or 0.0), result.done
        return result.observation["text"]


by_hand = SearchEnvironment()
question = by_hand.reset(seed=0)
found = by_hand.search(question)
by_hand.answer("nobody")
assert "<information>" in found and by_hand._done and by_hand.get_reward() == 0.0, found

tokenizer = AutoTokenizer.from_pretrained(POLICY)
tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
tokenizer.eos_token = "<|im_end|>"
tokenizer.pad_token = tokenizer.pad_token or "<|pad|>"
tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
torch.manual_seed(1)
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=4096,
))  # fmt: skip

CALL = '<tool_call>\n{"name": "answer", "arguments": {"text": "Oslo"}}\n</tool_call><|im_end|>'
call = tokenizer.encode(CALL, add_special_tokens=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(240):
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": by_hand.reset(seed=step % 8)}], tools=[by_hand.answer, by_hand.search],
        add_generation_prompt=True, return_dict=False,
    )  # fmt: skip
    ids = torch.tensor([shown + call])
    labels = torch.tensor([[-100] * len(shown) + call])
    loss = model(input_ids=ids, labels=labels).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
# One seed is one question: TRL repeats each row for its group.
rows = Dataset.from_list([{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(8)])
trainer = GRPOTrainer(
    model=model, processing_class=tokenizer, train_dataset=rows, environment_factory=SearchEnvironment,
    args=GRPOConfig(
        output_dir="/tmp/openenv-in-trl", max_steps=2, num_generations=4, per_device_train_batch_size=4,
        max_completion_length=2 * len(call) + 64, temperature=0.1, max_tool_calling_iterations=1, use_cpu=True, bf16=False, report_to=[], save_strategy="no", logging_steps=1,
    ),
)  # fmt: skip
trainer.train()
logged = [row for row in trainer.state.log_history if "rewards/SearchEnvironment/mean" in row]
assert len(logged) == 2 and all(row["tools/call_frequency"] > 0 for row in logged), trainer.state.log_history
print(json.dumps({
    "trl": trl.__version__, "steps": len(logged), "learned": round(loss.item(), 4),
    "calls": [row["tools/call_frequency"] for row in logged], "failed": [row["tools/failure_frequency"] for row in logged],
    "rewards": [row["rewards/SearchEnvironment/mean"] for row in logged],
}))  # fmt: skip
