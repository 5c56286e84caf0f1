"""Loads what `agentrl synth-data export` writes with datasets and trains a step on it with TRL.

  for f in openai-chat trl-messages trl-prompt-completion trl-preference verl; do
    agentrl synth-data export SYNTHESIS --as $f --out OUT/$f.jsonl; done
  agentrl synth-data export SYNTHESIS --as trl-messages --calls native --out OUT/trl-messages-native.jsonl
  python -P test/golden/exports-in-trl.py OUT POLICY           (POLICY: datasets/base-policy; torch, trl, datasets)

Every file that is there must load, render through a chat template that was made for training (with its tools), and give a finite loss; of
every message of the assistant the whole text, and of the user's and tools' none, must be what is learned. Prints versions and counts.
"""

import json
import sys
import tempfile
from pathlib import Path

import datasets
import torch
import transformers
import trl
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

OUT, POLICY = Path(sys.argv[1]), sys.argv[2]
TEMPLATE = Path(trl.__file__).parent / "chat_templates" / "qwen3_training.jinja"
ROWS = 24

tokenizer = AutoTokenizer.from_pretrained(POLICY)
tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
tokenizer.eos_token = "<|im_end|>"
tokenizer.pad_token = tokenizer.pad_token or "<|pad|>"
tokenizer.chat_template = TEMPLATE.read_text()


def model():
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=4096,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def arguments(kind, folder, **more):
    return kind(
        output_dir=folder, max_steps=1, per_device_train_batch_size=4, report_to=[], use_cpu=True, bf16=False,
        save_strategy="no", logging_steps=1, max_length=4096, disable_tqdm=True, **more,
    )  # fmt: skip


def learned_text(trainer, row):
    """What the trainer learns of a row."""
    batch = trainer.data_collator([trainer.train_dataset[row]])
    labels = batch["labels"][0]
    return tokenizer.decode(labels[labels != -100])


def loss_of(trainer):
    loss = trainer.train().training_loss
    assert loss == loss and loss < float("inf"), loss
    return round(loss, 4)


def assistant_texts(messages):
    return [m["content"] for m in messages if m["role"] == "assistant"]


def bare(text):
    return "".join(text.split())


report = {"trl": trl.__version__, "datasets": datasets.__version__, "transformers": transformers.__version__}
for file in sorted(OUT.glob("*.jsonl")):
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    loaded = datasets.load_dataset("json", data_files=str(file), split="train")
    assert len(loaded) == len(rows), file
    some = loaded.select(range(min(ROWS, len(loaded))))
    found = {"rows": len(rows), "columns": loaded.column_names}
    with tempfile.TemporaryDirectory() as folder:
        if file.stem in ("openai-chat", "verl"):
            # Templates and verl's own reader take these; arguments as JSON text is OpenAI's form.
            for row in rows[:ROWS]:
                text = tokenizer.apply_chat_template(row["messages"], tools=row.get("tools"), tokenize=False)
                assert all((m["content"] or "") in text for m in row["messages"] if m["role"] != "assistant")
            if file.stem == "verl":
                for row in rows:
                    trained = [row["messages"][i]["role"] for i in row["extra_info"]["trained_messages"]]
                    assert trained == ["assistant"] * len(trained), row["id"]
        elif file.stem == "trl-preference":
            args = arguments(DPOConfig, folder)
            trainer = DPOTrainer(model(), ref_model=model(), args=args, train_dataset=some, processing_class=tokenizer)
            found["loss"] = loss_of(trainer)
        else:
            only = {"assistant_only_loss": True} if file.stem.startswith("trl-messages") else {"completion_only_loss": True}
            trainer = SFTTrainer(model(), args=arguments(SFTConfig, folder, **only), train_dataset=some, processing_class=tokenizer)
            for i, row in enumerate(rows[: len(some)]):
                learned = bare(learned_text(trainer, i))
                messages = row.get("messages") or row["completion"]
                for text in assistant_texts(messages):
                    # The template moves what stands between think tags; words stay.
                    for part in text.replace("</think>", "<think>").split("<think>"):
                        assert bare(part) in learned, (file.stem, i, part, learned)
                for message in messages:
                    if message["role"] in ("user", "tool"):
                        assert bare(message["content"]) not in learned, (file.stem, i)
            found["loss"] = loss_of(trainer)
    report[file.stem] = found
print(json.dumps(report, indent=1))
