"""Writes hotpotqa-official.json: edge cases of HotpotQA's evaluation with exact scores.

    python3 test/golden/hotpotqa-official.py > test/golden/hotpotqa-official.json      (Python 3.11, no packages)

Written from the rules, not from the official script: normalise = lower-case, delete ASCII punctuation, drop a/an/the as whole
words, collapse spaces; em on equality; f1 on bags of words, and 0 if one side is yes/no/noanswer and the other differs;
supporting facts as sets of (title, sentence); joint precision and recall are products. Scores are fractions, so nothing is
rounded. A case: what it shows, gold answer, gold facts, predicted answer (null: missing), predicted facts (null: missing).
"""

import json
import re
import string
from collections import Counter
from fractions import Fraction

A, B, C = ["Oslo", 0], ["Lima", 2], ["Oslo", 1]
GOLD = [A, B]

CASES = [
    # answers
    ["equal answers", "Oslo", GOLD, "Oslo", GOLD],
    ["case does not matter", "OSLO", GOLD, "oslo", GOLD],
    ["articles are dropped", "The Hague", GOLD, "Hague", GOLD],
    ["an article inside a word stays", "Theatre", GOLD, "tre", GOLD],
    ["punctuation is deleted, not spaced", "St. Louis-Cup", GOLD, "st louiscup", GOLD],
    ["a hyphen joins words", "acid-house", GOLD, "acid house", GOLD],
    ["deleting dots can make an article", "A.N. Other", GOLD, "other", GOLD],
    ["white space is collapsed", "New York", GOLD, " New\t\n York ", GOLD],
    ["no-break space is white space", "New York", GOLD, "New\u00a0York", GOLD],
    ["curly quotes are not ASCII punctuation", "O'Brien", GOLD, "O\u2019Brien", GOLD],
    ["an en dash is not ASCII punctuation", "1861-65", GOLD, "1861\u201365", GOLD],
    ["accents are kept", "Bj\u00f6rk", GOLD, "Bjork", GOLD],
    ["a is not cut off an accented word", "a\u00e7a\u00ed", GOLD, "\u00e7a\u00ed", GOLD],
    ["an underscore belongs to no word once deleted", "the_end", GOLD, "theend", GOLD],
    ["numbers compare as text", "1,000", GOLD, "1000", GOLD],
    ["7 and 7.0 differ", "7", GOLD, "7.0", GOLD],
    ["no word shared", "Oslo", GOLD, "Lima", GOLD],
    ["more than the gold answer", "Barack Obama", GOLD, "Barack Obama senior", GOLD],
    ["less than the gold answer", "Barack Hussein Obama", GOLD, "Obama", GOLD],
    ["order does not matter to f1", "Obama Barack", GOLD, "Barack Obama", GOLD],
    ["a repeated word counts as often as both have it", "New York", GOLD, "new new york", GOLD],
    ["a repeated gold word, too", "Duran Duran", GOLD, "Duran", GOLD],
    ["yes is yes", "yes", GOLD, "Yes.", GOLD],
    ["yes is not no", "yes", GOLD, "no", GOLD],
    ["yes with words beside it is nothing", "yes", GOLD, "yes it is", GOLD],
    ["words with a yes in them are nothing", "yes minister", GOLD, "yes", GOLD],
    ["no one is not no", "no one", GOLD, "no", GOLD],
    ["noanswer is closed as well", "noanswer", GOLD, "noanswer given", GOLD],
    ["no answer in two words is not noanswer", "noanswer", GOLD, "no answer", GOLD],
    ["an empty answer", "Oslo", GOLD, "", GOLD],
    ["an answer of articles alone", "Oslo", GOLD, "the", GOLD],
    ["two answers without words are equal and share none", "The", GOLD, "a", GOLD],
    ["a gold answer of punctuation alone", "?", GOLD, "!", GOLD],
    ["a missing answer", "Oslo", GOLD, None, GOLD],
    # supporting facts
    ["half of the facts", "Oslo", GOLD, "Oslo", [A]],
    ["one fact too many", "Oslo", GOLD, "Oslo", [A, B, C]],
    ["a right and a wrong fact", "Oslo", GOLD, "Oslo", [A, C]],
    ["only wrong facts", "Oslo", GOLD, "Oslo", [C, ["Bergen", 0]]],
    ["the same title, another sentence", "Oslo", [A], "Oslo", [C]],
    ["the same sentence, another title", "Oslo", [A], "Oslo", [["Lima", 0]]],
    ["a fact said twice counts once", "Oslo", GOLD, "Oslo", [A, A, B]],
    ["a gold fact said twice counts once", "Oslo", [A, A, B], "Oslo", [B, A]],
    ["order of facts does not matter", "Oslo", GOLD, "Oslo", [B, A]],
    ["titles are compared to the letter", "Oslo", [A], "Oslo", [["oslo", 0]]],
    ["a title with white space around it is another", "Oslo", [A], "Oslo", [["Oslo ", 0]]],
    ["a title that ends in a number", "Oslo", [["Apollo 1", 1]], "Oslo", [["Apollo", 11]]],
    ["no facts predicted", "Oslo", GOLD, "Oslo", []],
    ["no facts on either side", "Oslo", [], "Oslo", []],
    ["facts where there are none", "Oslo", [], "Oslo", [A]],
    ["facts missing", "Oslo", GOLD, "Oslo", None],
    ["a sentence that the passage lacks", "Oslo", GOLD, "Oslo", [["Oslo", 99], B]],
    # both
    ["joint precision and recall are products", "Barack Obama", GOLD, "Barack Obama senior", [A]],
    ["joint f1 is not the product of both f1", "Barack Hussein Obama", GOLD, "Obama", [A, B, C]],
    ["a wrong answer with right facts", "Oslo", GOLD, "Lima", GOLD],
    ["a right answer with wrong facts", "Oslo", GOLD, "Oslo", [C]],
    ["half an answer, half the facts", "red car", GOLD, "red bus", [A, C]],
    ["a missing answer leaves the facts' own scores", "Oslo", GOLD, None, [A]],
    ["missing facts leave the answer's own scores", "red car", GOLD, "red bus", None],
    ["nothing predicted", "Oslo", GOLD, None, None],
    ["a closed answer that differs makes all joint 0", "no", GOLD, "no way", [A, B]],
]


def normalise(text):
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def harmonic(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def answer_scores(gold, predicted):
    if predicted is None:
        return [Fraction(0)] * 4
    gold, predicted = normalise(gold), normalise(predicted)
    em = Fraction(int(gold == predicted))
    closed = {"yes", "no", "noanswer"}
    if (gold in closed or predicted in closed) and gold != predicted:
        return [em, Fraction(0), Fraction(0), Fraction(0)]
    shared = sum((Counter(gold.split()) & Counter(predicted.split())).values())
    if shared == 0:
        return [em, Fraction(0), Fraction(0), Fraction(0)]
    precision, recall = Fraction(shared, len(predicted.split())), Fraction(shared, len(gold.split()))
    return [em, harmonic(precision, recall), precision, recall]


def fact_scores(gold, predicted):
    if predicted is None:
        return [Fraction(0)] * 4
    gold, predicted = {tuple(fact) for fact in gold}, {tuple(fact) for fact in predicted}
    shared = len(gold & predicted)
    precision = Fraction(shared, len(predicted)) if predicted else Fraction(0)
    recall = Fraction(shared, len(gold)) if gold else Fraction(0)
    return [Fraction(int(gold == predicted)), harmonic(precision, recall), precision, recall]


def scores(gold, gold_facts, predicted, predicted_facts):
    em, f1, precision, recall = answer_scores(gold, predicted)
    sp_em, sp_f1, sp_precision, sp_recall = fact_scores(gold_facts, predicted_facts)
    both = [precision * sp_precision, recall * sp_recall]
    names = [f"{subject}{measure}" for subject in ("", "sp_", "joint_") for measure in ("em", "f1", "precision", "recall")]
    values = [em, f1, precision, recall, sp_em, sp_f1, sp_precision, sp_recall, em * sp_em, harmonic(*both), *both]
    return dict(zip(names, values))


def main():
    found = [scores(*case[1:]) for case in CASES]
    # Over all questions, predicted or not: sums are divided by the number of gold items.
    mean = {name: sum(each[name] for each in found) / len(found) for name in found[0]}
    cases = []
    for (shows, gold, gold_facts, predicted, predicted_facts), values in zip(CASES, found):
        case = {"shows": shows, "gold": gold, "goldFacts": gold_facts, "predicted": predicted}
        cases.append({**case, "predictedFacts": predicted_facts, "scores": {k: str(v) for k, v in values.items()}})
    head = {"tool": "python 3.11, fractions", "script": "test/golden/hotpotqa-official.py", "tolerance": 1e-15}
    lines = ",\n".join(json.dumps(case) for case in cases)
    print(json.dumps({**head, "mean": {k: str(v) for k, v in mean.items()}})[:-1] + ', "cases": [\n' + lines + "\n]}")


main()
