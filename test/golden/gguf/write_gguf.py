"""Small GGUF files, written by the Python package `gguf`, and what it, transformers, tokenizers and sentencepiece make of them.

  python test/golden/gguf/write_gguf.py     (gguf, torch, transformers, tokenizers, sentencepiece; seed 7)

Writes beside this file
  blocks.gguf   one tensor of each storage type, of random blocks; blocks.json has gguf.dequantize's float32 numbers, in base64
  NAME.gguf     small models of each architecture and tokenizers of each kind; models.json has transformers' logits of the weights from
                which they were written, and the ids that the tokenizers' own library gives to texts
"""

import base64
import io
import json
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import sentencepiece
import torch
import transformers
from gguf import GGMLQuantizationType as T
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
SEED = 7
rng = np.random.default_rng(SEED)

# 1. Blocks -----------------------------------------------------------------------------------------------------------------------

TYPES = [T.F32, T.F16, T.BF16, T.Q8_0, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q4_K, T.Q5_K, T.Q6_K]
# Bytes of a block at which its halves begin.
HALVES = {T.Q8_0: [0], T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208]}


def random_blocks(kind, rows, columns):
    """Random bytes, so that every bit of a block counts, with random finite halves, one of them subnormal."""
    block, size = gguf.GGML_QUANT_SIZES[kind]
    if kind in (T.F32, T.F16):
        numbers = rng.normal(size=(rows, columns)).astype(np.float32 if kind == T.F32 else np.float16)
        return numbers
    if kind == T.BF16:
        numbers = rng.normal(size=(rows, columns)).astype(np.float32)
        return (numbers.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8).reshape(rows, -1)
    blocks = rng.integers(0, 256, size=(rows * columns // block, size), dtype=np.uint8)
    for at in HALVES[kind]:
        halves = rng.normal(scale=0.1, size=len(blocks)).astype(np.float16)
        halves[0] = np.float16(3e-7)
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(rows, -1)


writer = gguf.GGUFWriter(HERE / "blocks.gguf", "blocks")
expected = {}
for kind in TYPES:
    shape = (2, 256) if kind.name.endswith("_K") else (3, 32)
    data = random_blocks(kind, *shape)
    raw = {} if kind in (T.F32, T.F16) else {"raw_dtype": kind}
    writer.add_tensor(kind.name, data, **raw)
    numbers = gguf.dequantize(data, kind).astype(np.float32)
    assert np.isfinite(numbers).all() and numbers.shape == shape
    expected[kind.name] = base64.b64encode(numbers.tobytes()).decode()
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
(HERE / "blocks.json").write_text(json.dumps({"gguf": version("gguf"), "seed": SEED, "numbers": expected}, indent=1) + "\n")

# 2. Tokenizers -------------------------------------------------------------------------------------------------------------------

CORPUS = [
    "The river Amber flows past the town of Lindow, and the old mill stands where it always stood.",
    "Question: who founded the works at Lindow? Answer: it isn't known; they'll say it was Mara Voss in 1874.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; déjà vu, señor, naïve façade.",
    "def score(text):\n    return len(text) // 4 + 12\n\n\tif x >= 10: print('ok')\n",
] * 3
TEXTS = [
    "The river",
    " The   river  \n\n flows\t",
    "Lindow was founded in 1874, wasn't it? WE'LL see: it's 12345678.",
    "e\u0301 and \u00e9: Zwölf naïve façades",
    "Москва 東京 \U0001f999",
    "<|end|>x<tool> y",
    "def f(x):\r\n\treturn x**2  # ok",
]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
SPECIAL = ["<|begin|>", "<|end|>", "<|pad|>"]
PIECES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), PIECES])


def byte_level(pre, splits, nfc=False, begin=False, ignore_merges=False):
    """A tokenizer as its models' tokenizer.json has it, and its metadata as convert_hf_to_gguf.py writes them."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = splits
    tokenizer.decoder = decoders.ByteLevel()
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
    if begin:
        template = processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    tokens += ["[PAD]"] * (304 - len(tokens))
    kinds = [3 if t in SPECIAL else 4 if t == "<tool>" else 5 if t == "[PAD]" else 1 for t in tokens]
    tokens = [f"{t}{i}" if t == "[PAD]" else t for i, t in enumerate(tokens)]

    def write(writer):
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(tokens)
        writer.add_token_types(kinds)
        writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(1)
        writer.add_pad_token_id(2)
        if not begin:
            writer.add_add_bos_token(False)

    ids = {
        "start": [tokenizer.encode(text).ids for text in TEXTS],
        "within": [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS],
    }
    return write, ids


def sentence_piece():
    """A SentencePiece model, whose own library gives the ids."""
    stored = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=stored, vocab_size=400, model_type="bpe", byte_fallback=True,
        character_coverage=0.99, normalization_rule_name="identity", remove_extra_whitespaces=False,
        split_digits=True, allow_whitespace_only_pieces=True, minloglevel=2,
    )  # fmt: skip
    model = sentencepiece.SentencePieceProcessor(model_proto=stored.getvalue())
    ids = range(model.get_piece_size())

    def kind(i):
        return 2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 1

    def write(writer):
        writer.add_tokenizer_model("llama")
        writer.add_tokenizer_pre("default")
        writer.add_token_list([model.id_to_piece(i) for i in ids])
        writer.add_token_scores([model.get_score(i) for i in ids])
        writer.add_token_types([kind(i) for i in ids])
        writer.add_bos_token_id(model.bos_id())
        writer.add_eos_token_id(model.eos_id())
        writer.add_unk_token_id(model.unk_id())
        writer.add_add_bos_token(True)

    start = [[model.bos_id(), *model.encode(text)] for text in TEXTS]
    return write, {"start": start}


digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
TOKENIZERS = {
    "smollm": byte_level("smollm", digits),
    "llama-bpe": byte_level("llama-bpe", split(LLAMA3), begin=True, ignore_merges=True),
    "qwen2": byte_level("qwen2", split(QWEN2), nfc=True),
    "gpt-2": byte_level("gpt-2", pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "sentence-piece": sentence_piece(),
}

# 3. Models -----------------------------------------------------------------------------------------------------------------------

SIZES = {
    "hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "head_dim": 8,
}  # fmt: skip
LLAMA3_ROPE = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
}  # fmt: skip
MODELS = {
    # name: architecture, tokenizer, types of matrices in turn, further keys of config.json
    "llama": ("llama", "smollm", [T.Q4_0, T.Q8_0, T.Q5_1], {"rope_theta": 100000.0, "tie_word_embeddings": True}),
    "llama3": ("llama", "llama-bpe", [T.Q4_1, T.Q5_0], {"rope_theta": 500000.0, "rope_scaling": LLAMA3_ROPE, "tie_word_embeddings": False}),
    "qwen2": ("qwen2", "qwen2", [T.F16], {"rope_theta": 1000000.0, "tie_word_embeddings": True}),
    "qwen3": ("qwen3", "gpt-2", [T.BF16], {"rope_theta": 10000.0, "tie_word_embeddings": True}),
    "sentence-piece": ("llama", "sentence-piece", [T.Q8_0], {"rope_theta": 10000.0, "tie_word_embeddings": True}),
}
CLASSES = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3"}
NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip
TEMPLATE = "{% for m in messages %}{{ '<|begin|>' + m['role'] + '\\n' + m['content'] + '<|end|>' }}{% endfor %}"


def permute(weights, n_head, n_head_kv):
    """LlamaModel.permute of llama.cpp's convert_hf_to_gguf.py."""
    if n_head_kv is not None and n_head != n_head_kv:
        n_head = n_head_kv
    return (
        weights.reshape(n_head, 2, weights.shape[0] // n_head // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)
    )


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name in ("model.norm.weight", "lm_head.weight"):
        return {"model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}[name]
    _, _, layer, rest = name.split(".", 3)
    path, suffix = rest.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[path]}.{suffix}"


def rope_divisors(scaling, base, dim):
    """LlamaModel.generate_extra_tensors of convert_hf_to_gguf.py."""
    freqs = 1.0 / (base ** (np.arange(0, dim, 2, dtype=np.float32) / dim))
    low, high, old = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["original_max_position_embeddings"]
    found = []
    for wavelen in 2 * np.pi / freqs:
        if wavelen < old / high:
            found.append(1)
        elif wavelen > old / low:
            found.append(scaling["factor"])
        else:
            smooth = (old / wavelen - low) / (high - low)
            found.append(1 / ((1 - smooth) / scaling["factor"] + smooth))
    return np.array(found, dtype=np.float32)


def stored(weights, kind):
    """The bytes of a matrix and the numbers that they stand for."""
    if kind == T.F16:
        data = weights.astype(np.float16)
        return data, data.astype(np.float32), {}
    data = gguf.quantize(weights, kind)
    return data, gguf.dequantize(data, kind), {"raw_dtype": kind}


def make(name):
    architecture, tokenizer, kinds, keys = MODELS[name]
    write_tokenizer, ids = TOKENIZERS[tokenizer]
    vocabulary = 400 if tokenizer == "sentence-piece" else 304
    rope = {"rope_theta": keys["rope_theta"], "rope_type": "default", **keys.get("rope_scaling", {})}
    layers = 2 if architecture == "llama" and tokenizer != "sentence-piece" else 1
    config = getattr(transformers, CLASSES[architecture] + "Config")(
        **SIZES, num_hidden_layers=layers, vocab_size=vocabulary, rope_parameters=rope, tie_word_embeddings=keys["tie_word_embeddings"]
    )
    torch.manual_seed(SEED)
    model = getattr(transformers, CLASSES[architecture] + "ForCausalLM")(config).eval()
    writer = gguf.GGUFWriter(HERE / f"{name}.gguf", architecture)
    writer.add_name(f"golden {name}")
    writer.add_block_count(layers)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(32)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(keys["rope_theta"])
    if architecture == "qwen3":
        writer.add_key_length(8)
        writer.add_value_length(8)
    if architecture == "llama":
        writer.add_rope_dimension_count(8)
        writer.add_vocab_size(vocabulary)
    write_tokenizer(writer)
    writer.add_chat_template(TEMPLATE)
    if "rope_scaling" in keys:
        writer.add_tensor("rope_freqs.weight", rope_divisors(keys["rope_scaling"], keys["rope_theta"], 8))
    state = {}
    matrices = 0
    for key in model.state_dict():
        if key == "lm_head.weight" and keys["tie_word_embeddings"]:
            continue
        shape = model.state_dict()[key].shape
        scale, middle = (0.3, 0.0) if len(shape) == 2 or key.endswith(".bias") else (0.1, 1.0)
        weights = (middle + rng.normal(scale=scale, size=shape)).astype(np.float32)
        if len(shape) == 1:
            data, numbers, raw = weights, weights, {}
            written = data
        else:
            kind = kinds[matrices % len(kinds)]
            matrices += 1
            data, numbers, raw = stored(weights, kind)
            written = data
            # Rows are permuted after quantisation, which works by rows.
            if architecture == "llama" and ".q_proj." in key:
                written = permute(data, 4, 4)
            if architecture == "llama" and ".k_proj." in key:
                written = permute(data, 4, 2)
        writer.add_tensor(gguf_name(key), np.ascontiguousarray(written), **raw)
        state[key] = torch.from_numpy(numbers.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all(key == "lm_head.weight" for key in missing), (missing, unexpected)
    model.tie_weights()
    inputs = [(7 * i + 3) % vocabulary for i in range(20)]
    with torch.no_grad():
        logits = model(torch.tensor([inputs])).logits[0, -1].double().tolist()
    return {
        "inputs": inputs,
        "logits": [round(each, 6) for each in logits],
        "tokenizer": tokenizer,
        "ids": ids,
        "types": sorted({kind.name for kind in kinds}),
        "ropeTheta": keys["rope_theta"],
    }


versions = {name: version(name) for name in ("gguf", "torch", "transformers", "tokenizers", "sentencepiece")}
made = {name: make(name) for name in MODELS}
golden = {"versions": versions, "seed": SEED, "texts": TEXTS, "template": TEMPLATE, "models": made}
(HERE / "models.json").write_text(json.dumps(golden) + "\n")
for path in sorted(HERE.iterdir()):
    print(f"{path.stat().st_size:7d} {path.name}")
