"""Writes a Llama of Hugging Face's layout as an f32 GGUF file: gguf_model.py FOLDER OUT [TEMPLATE].

With a chat template (a file) the tokenizer goes along, so that a server can read and write text; without one the model takes and
gives tokens by number. Exit status 3 where a package is missing.
"""

import json
import os
import sys

from player import missing

try:
    import gguf
    import numpy as np
    from safetensors.numpy import load_file
except ImportError as error:
    missing(error)

LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def interleaved(weight, heads):
    """llama.cpp turns neighbours against each other where Hugging Face turns halves: rows of each head change places."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weight.shape))


def main(folder, out, template=None):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    tensors = load_file(os.path.join(folder, "model.safetensors"))
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    if template is None:
        writer.add_tokenizer_model("no_vocab")
    else:
        with open(template, encoding="utf-8") as file:
            writer.add_chat_template(file.read())
        add_tokenizer(writer, folder, config["vocab_size"])
    for name, tensor in tensors.items():
        tensor = tensor.astype(np.float32)
        if name.endswith("q_proj.weight"):
            tensor = interleaved(tensor, heads)
        elif name.endswith("k_proj.weight"):
            tensor = interleaved(tensor, kv_heads)
        writer.add_tensor(gguf_name(name.removesuffix(".weight")), tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tokenizer(writer, folder, size):
    """A byte-level BPE that holds whole words, without merges (`ignore_merges`): merges are made up that build each of them."""
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        tokenizer = json.load(file)
    with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as file:
        end = json.load(file)["eos_token"]
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"]}
    tokens = [f"<|unused {i}|>" for i in range(size)]
    types = [gguf.TokenType.UNUSED] * size
    for token, i in vocabulary.items():
        tokens[i] = token
        # Tags are text that a reader should see, unlike control tokens.
        plain = gguf.TokenType.USER_DEFINED if token in special else gguf.TokenType.NORMAL
        types[i] = gguf.TokenType.CONTROL if token.startswith("<|") else plain
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in merges_of(set(vocabulary) - special)])
    writer.add_eos_token_id(vocabulary[end])
    writer.add_bos_token_id(vocabulary[end])
    writer.add_add_bos_token(False)


def merges_of(words):
    """Each word is built of what the merges before it leave of it, so that none of them undoes an earlier word.

    From its end, its blank last: of a piece that is no token llama.cpp gives the bytes, and loses those that are no ASCII.
    """
    ranks = {}
    for word in sorted(words):
        pieces = list(word)
        while len(pieces) > 1:
            pairs = list(zip(pieces, pieces[1:]))
            known = [pair for pair in pairs if pair in ranks]
            pair = min(known, key=ranks.get) if known else pairs[-1]
            ranks.setdefault(pair, len(ranks))
            at = pairs.index(pair)
            pieces[at : at + 2] = ["".join(pair)]
    return list(ranks)


def gguf_name(name):
    whole = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    if name in whole:
        return f"{whole[name]}.weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{LAYER[rest]}.weight"


main(*sys.argv[1:])
