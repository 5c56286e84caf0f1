"""A small tokenizer with the layout of Qwen2's: byte-level BPE in NFC, Qwen2's pattern, its special tokens after the merges.

  agentrl recipes export search-r1 --tier smoke --to trl --out DIR
  python test/golden/trl-steps/tokenizer.py DIR/data/corpus.jsonl     (tokenizers 0.23; nothing is drawn at random)

Writes tokenizer.json and tokenizer_config.json beside this file. The merges are learned from the passages and from the texts of an episode,
so that some tokens hold the end of a tag and what follows it.
"""

import json
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
MERGES = 420
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = [
    *["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>"],
    *["<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"],
]
PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"]
EPISODES = [
    "<think>I look.</think>\n<search>towns on the river</search>\n\n<information>Doc 1(Title: Lindow) text</information>\n\n",
    "<search> who is it </search>\n\nand more", "<answer> Lindow </answer>\n\n", "Question: Which town? Answer: <answer>Oslo</answer>\n",
    "<|im_start|>user\nQuestion: Where?<|im_end|>\n<|im_start|>assistant\n",
]  # fmt: skip

texts = [f"Doc 1(Title: {row['title']}) {row['text']}\n" for row in map(json.loads, Path(sys.argv[1]).read_text().splitlines())]
tokenizer = Tokenizer(models.BPE(continuing_subword_prefix="", end_of_word_suffix=""))
tokenizer.normalizer = normalizers.NFC()
split = pre_tokenizers.Split(Regex(QWEN2), behavior="isolated", invert=False)
tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
trainer = trainers.BpeTrainer(vocab_size=len(alphabet) + MERGES, initial_alphabet=alphabet, show_progress=False)
tokenizer.train_from_iterator([*texts, *EPISODES * len(texts)], trainer)
tokenizer.add_tokens([AddedToken(each, special=True, normalized=False) for each in SPECIAL])
tokenizer.add_tokens([AddedToken(each, special=False, normalized=False) for each in PLAIN])
(HERE / "tokenizer.json").write_text(tokenizer.to_str() + "\n")

added = {
    str(tokenizer.token_to_id(each)): {"content": each, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": each in SPECIAL}
    for each in [*SPECIAL, *PLAIN]
}
config = {
    "add_bos_token": False, "add_prefix_space": False, "added_tokens_decoder": added, "additional_special_tokens": SPECIAL[1:],
    "bos_token": None, "clean_up_tokenization_spaces": False, "eos_token": "<|endoftext|>", "errors": "replace", "model_max_length": 131072,
    "pad_token": "<|endoftext|>", "split_special_tokens": False, "tokenizer_class": "Qwen2Tokenizer", "unk_token": None,
    # ChatML, as Qwen2.5's template writes a plain conversation.
    "chat_template": "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}{% endif %}{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
}  # fmt: skip
(HERE / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
print(tokenizer.get_vocab_size(), tokenizer.encode("<search>town</search>\n\nand").tokens)
