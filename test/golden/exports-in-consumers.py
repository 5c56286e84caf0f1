"""Reads every row that `agentrl synth-data export` writes as its consumer reads it.

  for f in openai-chat trl-messages trl-prompt-completion verl sharegpt; do
    agentrl synth-data export SYNTHESIS --as $f --out OUT/$f.jsonl; done
  agentrl synth-data export SYNTHESIS --as verl --out OUT/verl.parquet
  python -P test/golden/exports-in-consumers.py OUT POLICY       (POLICY: datasets/base-policy; datasets, transformers, trl)

datasets loads each file. TRL renders its rows with a chat template that was made for training. If verl is installed (`--no-deps`, with ray,
omegaconf, tensordict and pillow), its RLHFDataset reads the Parquet file. If LLaMA-Factory is installed (in an environment of its own, with
an empty module for torchaudio), its converter reads the sharegpt rows, and nothing else is read. Without them their documented reads
are repeated: `prompt` as a list and `reward_model.ground_truth`; people and observations speak at even places. Tags of think,
search and answer must be in pairs in every message of the assistant. Prints versions and counts.
"""

import json
import re
import sys
from pathlib import Path

import datasets
import transformers
from transformers import AutoTokenizer

import trl
from trl.data_utils import maybe_apply_chat_template

try:
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset
except ImportError:
    RLHFDataset = None
try:
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import DatasetAttr
    from llamafactory.hparams import DataArguments
except ImportError:
    get_dataset_converter = None

OUT, POLICY = Path(sys.argv[1]), sys.argv[2]
TAG = re.compile(r"<(/?)(think|search|answer)>")

tokenizer = AutoTokenizer.from_pretrained(POLICY)
template = Path(trl.__file__).parent / "chat_templates" / "qwen3_training.jinja"


def read_by_verl(file):
    """Rows as verl's trainer gets them, in order."""
    config = OmegaConf.create({"max_prompt_length": 4096, "filter_overlong_prompts": False})
    loaded = RLHFDataset(data_files=str(file), tokenizer=tokenizer, config=config)
    return [loaded[i] for i in range(len(loaded))]


def llama_factory():
    attributes = DatasetAttr("file", dataset_name="own", formatting="sharegpt")
    attributes.messages = "conversations"
    return get_dataset_converter("sharegpt", attributes, DataArguments(template="qwen3", dataset="own"))


convert = None if get_dataset_converter is None else llama_factory()
# LLaMA-Factory needs an older TRL, which has no such template.
if convert is None:
    tokenizer.chat_template = template.read_text()


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
    if kind == "sharegpt" and convert is not None:
        converted = convert(row)
        return bool(converted["_prompt"]) and bool(converted["_response"])
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
report["readers of their own"] = [name for name, found in (("verl", RLHFDataset), ("llamafactory", convert)) if found is not None]
for file in sorted(OUT.iterdir()):
    if convert is not None and file.stem != "sharegpt":
        continue
    kind = file.suffix[1:].replace("jsonl", "json")
    rows = datasets.load_dataset(kind, data_files=str(file), split="train")
    wrong = [i for i, row in enumerate(rows) if not is_read(file.stem, row)]
    if file.suffix == ".parquet" and RLHFDataset is not None:
        read = read_by_verl(file)
        wrong += [i for i, row in enumerate(read) if not (row["raw_prompt"] and row["reward_model"]["ground_truth"]["target"])]
        wrong += range(len(read), len(rows))
    broken = [i for i, row in enumerate(rows) if not all(is_paired(m["content"]) for m in messages_of(row) if m["role"] in ("assistant", "gpt"))]
    report[file.name] = {"rows": len(rows), "not read": len(wrong), "unpaired tags": len(broken)}
print(json.dumps(report, indent=1))
