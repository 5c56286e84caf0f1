"""An episode as tokens: what the policy sampled and what it was shown, with a mask of the tokens to train."""

from bisect import bisect_left

from episode import BUDGETS, EXPERIMENT, PROTOCOL, Episode, find_cut

CHAT = EXPERIMENT["policy"]["chat"]
STOP = PROTOCOL["stop"]
MARK = "\u2063reply\u2063"


def encode(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False) if text else []


def decode(tokenizer, ids):
    return tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def render(tokenizer, messages):
    system = [] if CHAT.get("system") is None else [{"role": "system", "content": CHAT["system"]}]
    return tokenizer.apply_chat_template(system + messages, add_generation_prompt=True, tokenize=False)


def prompt_ids(tokenizer, prompt):
    """A prompt as it is, or through the policy's chat template where the recipe sets policy.chat."""
    if CHAT is not None:
        return encode(tokenizer, render(tokenizer, [{"role": "user", "content": prompt}]))
    ids = tokenizer.encode(prompt)
    return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids


def text_around(tokenizer):
    """The chat template's text around a reply; none without a template, and none for replies within the model's own message."""
    if CHAT is None or CHAT["replies"] == "inline":
        return "", ""
    asked = [{"role": "user", "content": "q"}]
    shown = render(tokenizer, asked) + "a"
    whole = render(tokenizer, [*asked, {"role": "assistant", "content": "a"}, {"role": CHAT["replies"], "content": MARK}])
    before, after = whole[len(shown) :].split(MARK)
    return before, after


def end_ids(tokenizer):
    """Tokens that end a message: EOS, and those of the policy's generation_config.json."""
    return {tokenizer.eos_token_id, *EXPERIMENT["policy"]["endIds"]}


def cut_tokens(tokenizer, ids):
    """A message up to its cut: its whole tokens, and its text. An EOS right after the cut stays."""
    ended = bool(ids) and ids[-1] in end_ids(tokenizer)
    written = ids[:-1] if ended else ids
    text = decode(tokenizer, written)
    cut = find_cut(text)
    if cut is None:
        return ids, text
    through = bisect_left(range(len(written) + 1), cut, key=lambda count: len(decode(tokenizer, written[:count])))
    return (ids if through == len(written) else ids[:through]), text[:cut]


class TokenEpisode:
    """One trajectory. Sample at most `room()` tokens after `ids`, give them to `take`, until `done`."""

    def __init__(self, tokenizer, prompt):
        self.tokenizer, self.episode = tokenizer, Episode()
        self.prompt_ids = prompt_ids(tokenizer, prompt)
        self.response_ids, self.mask, self.logprobs = [], [], []
        self.done = self.room() < 1

    @property
    def ids(self):
        return self.prompt_ids + self.response_ids

    def room(self):
        context = BUDGETS["contextTokens"]
        turn = BUDGETS["turnTokens"]
        return turn if context is None else min(turn, context - len(self.prompt_ids) - len(self.response_ids))

    def take(self, sampled, logprobs=None):
        """Appends a message and the reply to it."""
        kept, text = cut_tokens(self.tokenizer, list(sampled))
        self._append(kept, 1, [0.0] * len(kept) if logprobs is None else list(logprobs)[: len(kept)])
        length = len(self.response_ids)
        reply = self.episode.step(text)
        if reply is not None:
            before, after = text_around(self.tokenizer)
            if kept and kept[-1] in end_ids(self.tokenizer):
                ends = [decode(self.tokenizer, [each]) for each in end_ids(self.tokenizer)]
                before = before[len(next(filter(before.startswith, ends), "")) :]
            shown = encode(self.tokenizer, reply)[: BUDGETS["observationTokens"]]
            self._append(encode(self.tokenizer, before) + shown + encode(self.tokenizer, after), 0)
        self.done = reply is None or self.room() < 1
        if self.done:
            # The reply that no message follows is no part of the trajectory.
            del self.response_ids[length:], self.mask[length:], self.logprobs[length:]

    def _append(self, ids, trained, logprobs=None):
        self.response_ids += ids
        self.mask += [trained] * len(ids)
        self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs
