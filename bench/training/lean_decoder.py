"""A Llama as one would write it for speed in PyTorch eager: no cache, no mask tensors, fused attention, tied embeddings."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        d, f = config["hidden_size"], config["intermediate_size"]
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.head_dim, self.epsilon = config["head_dim"], config["rms_norm_eps"]
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        self.sizes = [q, kv, kv]
        self.input_norm = nn.Parameter(torch.ones(d))
        self.post_norm = nn.Parameter(torch.ones(d))
        # One product for q, k and v, one for gate and up: fewer and larger kernels.
        self.qkv = nn.Linear(d, q + 2 * kv, bias=False)
        self.o = nn.Linear(q, d, bias=False)
        self.gate_up = nn.Linear(d, 2 * f, bias=False)
        self.down = nn.Linear(f, d, bias=False)

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        q, k, v = self.qkv(F.rms_norm(x, (d,), self.input_norm, self.epsilon)).split(self.sizes, -1)
        q = turn(q.view(b, t, self.heads, -1).transpose(1, 2), cos, sin)
        k = turn(k.view(b, t, self.kv_heads, -1).transpose(1, 2), cos, sin)
        v = v.view(b, t, self.kv_heads, -1).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(b, t, -1))
        gate, up = self.gate_up(F.rms_norm(x, (d,), self.post_norm, self.epsilon)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def turn(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class LeanDecoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config["hidden_size"]
        self.epsilon = config["rms_norm_eps"]
        self.embed = nn.Embedding(config["vocab_size"], d)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = nn.Parameter(torch.ones(d))
        half = config["head_dim"] // 2
        frequencies = config["rope_theta"] ** -(torch.arange(half) / half)
        angles = torch.outer(torch.arange(config["max_position_embeddings"]), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids):
        x = self.embed(ids)
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, cos, sin)
        return F.linear(F.rms_norm(x, x.shape[-1:], self.norm, self.epsilon), self.embed.weight)

    @torch.no_grad()
    def load(self, tensors):
        """Takes a Hugging Face checkpoint's tensors."""
        self.embed.weight.copy_(tensors["model.embed_tokens.weight"])
        self.norm.copy_(tensors["model.norm.weight"])
        for i, block in enumerate(self.blocks):
            at = lambda name: tensors[f"model.layers.{i}.{name}.weight"]  # noqa: E731
            block.input_norm.copy_(at("input_layernorm"))
            block.post_norm.copy_(at("post_attention_layernorm"))
            block.qkv.weight.copy_(torch.cat([at(f"self_attn.{n}_proj") for n in "qkv"]))
            block.o.weight.copy_(at("self_attn.o_proj"))
            block.gate_up.weight.copy_(torch.cat([at("mlp.gate_proj"), at("mlp.up_proj")]))
            block.down.weight.copy_(at("mlp.down_proj"))
        return self
