"""Recomputes the number world's solutions with exact fractions (Python 3, standard library only).

Reads tasks as JSON lines from standard input. For each: every step of every solution, the last step against each accepted spelling, and the
expression of an expression problem as Python reads it. Writes one JSON document: problems, steps, wrong (ids).
test/golden/number-world.slow.test.ts runs it.
"""

import json
import re
import sys
from fractions import Fraction


def value(expression, answers):
    filled = re.sub(r"#(\d+)", lambda found: f"({answers[int(found[1]) - 1]})", expression)
    exact = re.sub(r"\d+(?:\.\d+)?", lambda found: f"Fraction('{found[0]}')", filled)
    return eval(exact, {"__builtins__": {}}, {"Fraction": Fraction, "max": max, "min": min})


def spelled(text):
    mixed = re.fullmatch(r"(?:(\d+) )?(\d+)/(\d+)", text)
    if mixed:
        return int(mixed[1] or 0) + Fraction(int(mixed[2]), int(mixed[3]))
    return Fraction(text.replace(",", "").replace(" ", ""))


def main():
    problems, steps, wrong = 0, 0, []
    for line in sys.stdin:
        task = json.loads(line)
        notes = task["annotations"]
        problems += 1
        for solution in [notes["decomposition"], *notes["routes"]]:
            answers = []
            for step in solution:
                steps += 1
                if value(step["expression"], answers) != Fraction(step["answer"]):
                    wrong.append(task["id"])
                answers.append(step["answer"])
            if any(spelled(text) != Fraction(answers[-1]) for text in task["references"]):
                wrong.append(task["id"])
        if notes["type"] == "expression":
            text = re.fullmatch(r"(?:What is|Compute|Find the value of) (.*)[.?]", task["question"])[1]
            if value(text, []) != spelled(task["references"][0]):
                wrong.append(task["id"])
    json.dump({"problems": problems, "steps": steps, "wrong": wrong}, sys.stdout)


main()
