"""Writes drop-answers.json: DROP's answer scores of edge cases and of seeded lists of spans.

    python3 test/golden/drop-answers.py > test/golden/drop-answers.json      (Python 3.11, no packages)

Written from the rules of AllenNLP's DROP evaluation with IRCoT's precision and recall, not from their code; what a number is and
how it is written is Python's own `float`. Alignments are found by trying all of them. "normal": texts as they are compared.
Rounding is numpy's: times 100, to the nearest whole number, a half to the even one.
"cases": prediction, references (each one text or several spans), em, f1, precision, recall of the best reference. Where
several alignments have the greatest sum of F1, precision and recall are those of one of them, so such cases are left out.
"""

import itertools
import json
import random
import re
import string

SEED = 7

TEXTS = [
    "The  St. Louis-Cup!", "7", "7.0", "07", "1,000", "1_000", "1e3", "1E16", "1e-5", "0.00001", "123456789012345678", ".5", "5.",
    "+3", "3rd", "$4.50", "4.50%", "inf", "Infinity", "nan", "Nan", "-5", "5-6", "twenty-one", "a-ha", "A.N. Other", "O'Brien",
    "O\u2019Brien", "New\tYork", "\u00e7a a\u00ed", "", " ", "the", "-", "--", "1861\u201365", "1.5e300", "1e400", "0.1", "0", "00.10",
    "1__0", "_1", "1e", "e5", "12:30", "1/2", "3,5", "100.", "9007199254740993", "0.0001", "0.00012345", "1e15", "9999999999999999",
]  # fmt: skip

CASES = [
    ["Oslo", ["oslo."]],
    ["30 Jan 1969", ["January 30, 1969"]],
    ["Barack Obama senior", ["Barack Obama"]],
    ["new new york", ["new york"]],
    ["in 1969", ["in 1970"]],
    ["1969", ["the year 1969"]],
    ["many", ["3"]],
    ["3 dogs", ["3 dogs and 4 cats"]],
    ["dogs", ["no numbers here, dogs"]],
    ["", ["Oslo"]],
    ["Oslo", [""]],
    ["", [""]],
    ["the", ["a"]],
    ["acid-house", ["acid house"]],
    ["x", ["y", "x z", "x"]],
    ["a b c d e f g h", ["a b c d e f g i"]],
    [["Paris"], [["Paris", "Rome"]]],
    [["Rome", "Paris"], [["Paris", "Rome"]]],
    [["Rome", "Rome"], [["Paris", "Rome"]]],
    [["Rome", "Rome"], [["Rome"]]],
    [["Rome"], [["Rome", "Rome"]]],
    [["New York City", "York"], [["York", "New York"]]],
    [["one two", "two three", "three four"], [["two", "three four five"]]],
    [[], [["Oslo"]]],
    ["Oslo", [["Oslo", "Lima"], "Oslo"]],
    [["x y"], [["x y z w v u q"], "x y z"]],
]
WORDS = ["oslo", "lima", "the", "7", "8.0", "new", "york", "city"]


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def normal(text):
    parts = []
    for token in re.split(" |-", text):
        token = token.lower()
        if not is_number(token):
            token = "".join(character for character in token if character not in string.punctuation)
        if is_number(token):
            token = str(float(token))
        token = " ".join(re.sub(r"\b(a|an|the)\b", " ", token).split())
        if token:
            parts.append(token)
    return " ".join(parts)


def overlap(gold, predicted):
    numbers = {word for word in gold if is_number(word)}
    if numbers and not numbers & {word for word in predicted if is_number(word)}:
        return 0.0, 0.0, 0.0
    shared = len(gold & predicted)
    precision = shared / len(predicted) if predicted else 1.0
    recall = shared / len(gold) if gold else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f1, precision, recall


def spans(answer):
    return [answer] if isinstance(answer, str) else answer or [""]


def scores(prediction, reference):
    predicted, gold = [normal(span) for span in spans(prediction)], [normal(span) for span in spans(reference)]
    em = float(len(predicted) == len(gold) and set(predicted) == set(gold))
    table = [[overlap(set(g.split()), set(p.split())) for p in predicted] for g in gold]
    size = max(len(predicted), len(gold))
    best, found = -1.0, set()
    for order in itertools.permutations(range(size)):
        aligned = [table[row][order[row]] for row in range(len(gold)) if order[row] < len(predicted)]
        total = sum(each[0] for each in aligned)
        if total > best + 1e-9:
            best, found = total, set()
        if total > best - 1e-9:
            found.add(tuple(round(sum(each[i] for each in aligned) / size * 100) / 100 for i in range(3)))
    return em, found


def main():
    draw = random.Random(SEED)

    def text():
        return draw.choice([" ", "-"]).join(draw.choices(WORDS, k=draw.randint(1, 4)))

    made = [[[text() for _ in range(draw.randint(1, 5))] for _ in range(2)] for _ in range(120)]
    cases = []
    for prediction, references in CASES + [[prediction, [reference]] for prediction, reference in made]:
        each = [scores(prediction, reference) for reference in references]
        if any(len(found) > 1 for _, found in each):
            continue
        best = max((em, *next(iter(found))) for em, found in each)
        cases.append([prediction, references, *best])
    head = {"tool": "python 3.11", "script": "test/golden/drop-answers.py", "seed": SEED, "tolerance": 1e-12}
    lines = ",\n".join(json.dumps(case) for case in cases)
    texts = json.dumps([[each, normal(each)] for each in TEXTS])
    print(json.dumps(head)[:-1] + f', "normal": {texts},\n"cases": [\n{lines}\n]}}')


main()
