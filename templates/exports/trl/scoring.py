"""The rewards of the exported recipe, as agentrl computes them from the policy's messages; experiment.json names them."""

import re
from collections import Counter

from episode import BLANK, EXPERIMENT, PROTOCOL, does_nothing, parse

# Unicode's White_Space, which answers are split at.
SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
ARTICLES = re.compile(r"(?<!\w)(?:a|an|the)(?!\w)")
CLOSED = {"yes", "no", "noanswer"}

S = f"[{BLANK}]"
ANY_TAG = re.compile(r"</?[A-Za-z0-9_-]+>|<\|[A-Za-z0-9_-]+\|>")


def normalize(text):
    """SQuAD's normalisation of answers."""
    return SPACES.sub(" ", ARTICLES.sub(" ", PUNCTUATION.sub("", text.lower()))).strip(BLANK)


def final_answer(messages, prompt=""):
    """The answer by the protocol's rule; None without one."""
    rule = PROTOCOL["answerRule"]
    texts = {"response": messages, "last-message": messages[-1:], "prompt-and-response": [prompt, *messages]}[rule["scope"]]
    found = [match[1] for text in texts for match in re.finditer(rule["pattern"], text, re.DOTALL)]
    if len(found) < rule["atLeast"]:
        return None
    return found[0 if rule["pick"] == "first" else -1].strip(BLANK)


def exact_match(answer, references):
    return float(normalize(answer) in {normalize(each) for each in references})


def words_of(text):
    return text.split(" ") if text else []


def overlap_f1(predicted, reference):
    if (predicted in CLOSED or reference in CLOSED) and predicted != reference:
        return 0.0
    predicted, reference = words_of(predicted), words_of(reference)
    shared = sum((Counter(predicted) & Counter(reference)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(reference)
    return 2 * precision * recall / (precision + recall)


def token_f1(answer, references):
    predicted = normalize(answer)
    return max((overlap_f1(predicted, normalize(each)) for each in references), default=0.0)


def block(tag):
    name = re.escape(tag)
    return f"<{name}>(?:(?!</?{name}>).)*</{name}>{S}*"


def tag_format(messages, options):
    """1 if every message is its blocks and one action, and the last one answers; else 0."""
    before = "".join(map(block, options["blocks"])) + "".join(f"(?:{block(tag)})?" for tag in options["optional"])
    shape = re.compile(f"{S}*{before}<[^<>]+>(.*)<[^<>]+>{S}*", re.DOTALL)

    def is_formed(number):
        match = shape.fullmatch(messages[number])
        return match is not None and not does_nothing(messages[number], number) and not ANY_TAG.search(match[1])

    action = parse(messages[-1]) if messages else None
    answered = action is not None and action[0] == "answer" and final_answer(messages) is not None
    numbers = range(len(messages))
    calls, answering = (numbers[:-1], numbers[-1:]) if answered else (numbers, [])
    answer = final_answer(messages) or ""
    words = len(re.split(f"{S}+", answer.strip(BLANK)))
    is_short = options.get("answerWords") is None or words <= options["answerWords"]
    only = options.get("only")
    if not answered and only != "calls":
        return 0.0
    right = [is_formed(each) for each in calls] if only != "answer" else []
    right += [is_formed(each) and is_short for each in answering] if only != "calls" else []
    return float(all(right))


def value_of(reward, messages, references, prompt):
    if reward["name"] == "tag-format":
        return tag_format(messages, reward["options"])
    answer = final_answer(messages, prompt)
    if answer is None:
        return 0.0
    return {"exact-match": exact_match, "token-f1": token_f1}[reward["name"]](answer, references)


OPERATORS = {
    "or": lambda a, b: float(a != 0 or b != 0), "and": lambda a, b: float(a != 0 and b != 0),
    "==": lambda a, b: float(a == b), "!=": lambda a, b: float(a != b), "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b), ">": lambda a, b: float(a > b), ">=": lambda a, b: float(a >= b),
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "^": lambda a, b: a**b,
}  # fmt: skip


def evaluate(node, names):
    """The value of the recipe's `reward` expression, whose tree is in experiment.json."""
    kind = node["kind"]
    if kind == "number":
        return node["value"]
    if kind == "name":
        return names[node["name"]]
    if kind == "prefix":
        value = evaluate(node["of"], names)
        return -value if node["sign"] == "-" else float(value == 0)
    if kind == "infix":
        return OPERATORS[node["sign"]](evaluate(node["left"], names), evaluate(node["right"], names))
    if node["name"] != "if":
        return {"min": min, "max": max}[node["name"]](evaluate(each, names) for each in node["given"])
    given = node["given"]
    for condition, value in zip(given[:-1:2], given[1::2]):
        if evaluate(condition, names) != 0:
            return evaluate(value, names)
    return evaluate(given[-1], names)


def score(messages, references, prompt=""):
    """Values of all rewards by name, and `score`, their combination.

    messages: the policy's, each up to its cut; references: accepted answers.
    """
    rewards = EXPERIMENT["rewards"]
    values = {each["as"]: value_of(each, messages, references, prompt) for each in rewards}
    total = sum(each["weight"] * values[each["as"]] for each in rewards)
    if EXPERIMENT["reward"] is not None:
        total += evaluate(EXPERIMENT["reward"], {**values, "answered": float(final_answer(messages, prompt) is not None), "turns": len(messages)})
    return {**values, "score": float(total)}
