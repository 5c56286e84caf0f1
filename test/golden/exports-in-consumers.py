"""Reads every row that `agentrl synth-data export` writes as its consumer reads it.

  for f in openai-chat trl-messages trl-prompt-completion verl sharegpt; do
    agentrl synth-data export SYNTHESIS --as $f --out OUT/$f.jsonl; done
  agentrl synth-data export SYNTHESIS --as verl --out OUT/verl.parquet
  python -P test/golden/exports-in-consumers.py OUT POLICY       (POLICY: datasets/base-policy; datasets, transformers, trl)

datasets loads each file. TRL renders its rows with a chat template that was made for training. verl and LLaMA-Factory are not run: their
documented reads are repeated here (RLHFDataset: `prompt` as a list and `reward_model.ground_truth`; sharegpt: people and observations speak
at even places). Tags of think, search and answer must be in pairs in every message of the assistant. Prints versions and counts.
"""

import json
import re
import sys
from pathlib import Path

import datasets
import transformers
import trl
from transformers import AutoTokenizer
from trl.data_utils import maybe_apply_chat_template

OUT, POLICY = Path(sys.argv[1]), sys.argv[2]
TAG = re.compile(r"<(/?)(think|search|answer)>")

tokenizer = AutoTokenizer.from_pretrained(POLICY)
tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_training.jinja").read_text()


def is_paired(text):
    opened = None
    for slash, name in TAG.findall(text or ""):
        if (slash == "") != (opened is None) or (slash and opened != name):
            return False
        opened = None if slash else name
    return opened is None


def messages_of(row):
    if "conversations" in row:
        return [{"role": m["from"], "content": m["value"]} for m in row["conversations"]]
    return row.get("messages") or row["prompt"] + row["completion"]


def is_read(kind, row):
    if kind == "sharegpt":
        places = [m["from"] in ("human", "observation") for m in row["conversations"]]
        return places == [i % 2 == 0 for i in range(len(places))] and len(places) % 2 == 0
    if kind == "verl":
        prompt = tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False)
        return bool(prompt) and bool(row["reward_model"]["ground_truth"]["target"])
    if kind == "openai-chat":
        return bool(tokenizer.apply_chat_template(row["messages"], tools=row["tools"], tokenize=False))
    rendered = maybe_apply_chat_template({k: row[k] for k in ("messages", "prompt", "completion") if k in row}, tokenizer)
    return all(isinstance(text, str) and text for text in rendered.values())


report = {m.__name__: m.__version__ for m in (datasets, transformers, trl)}
for file in sorted(OUT.iterdir()):
    kind = file.suffix[1:].replace("jsonl", "json")
    rows = datasets.load_dataset(kind, data_files=str(file), split="train")
    wrong = [i for i, row in enumerate(rows) if not is_read(file.stem, row)]
    broken = [i for i, row in enumerate(rows) if not all(is_paired(m["content"]) for m in messages_of(row) if m["role"] in ("assistant", "gpt"))]
    report[file.name] = {"rows": len(rows), "not read": len(wrong), "unpaired tags": len(broken)}
print(json.dumps(report, indent=1))
