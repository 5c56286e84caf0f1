"""Small tokenizers of the kinds that real models have, trained here, and what Hugging Face's `tokenizers` makes of texts.

  python test/golden/tokenizer-kinds.py     (tokenizers; nothing is drawn at random)

Writes tokenizer-kinds.json beside this file: for each kind its tokenizer.json and tokenizer_config.json, ids with and without what
it puts around a text; where it puts a space before a text, ids of those that follow a byte that merges with nothing; decoded texts.
"""

import json
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "The river Amber flows past the town of Lindow, and the old mill stands where it always stood.",
    "Question: who founded the works at Lindow? Answer: it isn't known; they'll say it was Mara Voss in 1874.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich; déjà vu, señor, naïve façade.",
    "def score(text):\n    return len(text) // 4 + 12\n\n\tif x >= 10: print('ok')\n",
    "Москва и Лондон, 東京と京都, 서울, ελληνικά, नमस्ते दुनिया, שלום עולם.",
    "<search> towns on the Amber </search> <information> Doc 1: Lindow </information>",
] * 3

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "\n\n \t",
    "The river",
    " The river",
    "   The   river  ",
    "Lindow was founded in 1874, wasn't it? WE'LL see: it's 12345678.",
    "Zwölf große naïve façades",
    "e\u0301a\u0308 ﬁ ½ Ⅷ ² ①",
    "Москва 東京 서울 नमस्ते שלום",
    "\U0001f999 and \U0001f469\u200d\U0001f680, \U0001f1e9\U0001f1ea!",
    "a\ufeffb \ufeff're and\u0085 the\u3000\u2009x",
    "\r\nline\r\n  indented\n\n\nend   ",
    "<|begin|>The river<|end|>",
    "x<|end|> y <|end|>",
    "<tool>it</tool> and <tool> the mill",
    "▁under▁ <0x41> <s>",
    "http://a.b/c?d=e&f=1e-5 {\"k\": [1, 2]}\\n",
    "\x00\x01\x7f",
    "ALLCAPS CamelCase snake_case x2y",
]

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = ["<|begin|>", "<|end|>", "<|pad|>"]
BYTES = [f"<0x{i:02X}>" for i in range(256)]


def byte_level(split, begin):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, special_tokens=SPECIAL)
    )
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
    if begin:
        template = processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return tokenizer


def split_bytes(pattern):
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def with_byte_fallback(tokenizer):
    """The tokenizer with a token for each byte after its own, and byte_fallback on."""
    parts = json.loads(tokenizer.to_str())
    model = parts["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    order = tokens[:3] + BYTES + tokens[3:]
    model["vocab"] = {token: i for i, token in enumerate(order)}
    model["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(parts))


def sentence_pieces(legacy):
    tokenizer = Tokenizer(models.BPE(unk_token="<|pad|>", fuse_unk=True))
    fallback = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(fallback)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=SPECIAL, limit_alphabet=70)
    words = [" " + word for line in CORPUS for word in line.split(" ")]
    tokenizer.train_from_iterator(words, trainer)
    if legacy:
        tokenizer.pre_tokenizer = None
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|begin|> $A <|end|>", special_tokens=[("<|begin|>", 0), ("<|end|>", 1)]
    )
    return with_byte_fallback(tokenizer)


KINDS = {
    "llama-3": (byte_level(split_bytes(LLAMA3), True), {}),
    "tekken": (byte_level(split_bytes(TEKKEN), False), {"add_bos_token": True}),
    "smollm": (
        byte_level(
            pre_tokenizers.Sequence(
                [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
            ),
            False,
        ),
        {},
    ),
    "llama-2": (sentence_pieces(True), {"add_bos_token": True, "add_eos_token": False}),
    "metaspace": (sentence_pieces(False), {"add_bos_token": False}),
}

kinds = {}
for name, (tokenizer, config) in KINDS.items():

    def encode(text, special=False):
        return tokenizer.encode(text, add_special_tokens=special).ids

    bell = encode("\x07")
    spaced = name in ("llama-2", "metaspace")
    marks = [*SPECIAL, "<tool>"]
    after = [
        encode("\x07" + text)[len(bell) :] if spaced and not any(mark in text for mark in marks) else None
        for text in TEXTS
    ]
    plain = [encode(text) for text in TEXTS]
    kinds[name] = {
        "tokenizer": json.loads(tokenizer.to_str()),
        "config": {"bos_token": SPECIAL[0], "eos_token": SPECIAL[1], "pad_token": SPECIAL[2], **config},
        "ids": plain,
        "whole": [encode(text, True) for text in TEXTS],
        "after": after,
        "decoded": [tokenizer.decode(ids, skip_special_tokens=False) for ids in plain],
    }

record = {"tool": "tokenizers", "version": tokenizers.__version__, "script": "tokenizer-kinds.py", "texts": TEXTS, "kinds": kinds}
path = Path(__file__).with_suffix(".json")
path.write_text(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n")
