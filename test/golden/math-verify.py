"""Writes math-verify.json: verdicts on pairs of a reference and a prediction, by math-verify and by sympy.

    python -m venv ENV && ENV/bin/pip install math-verify==0.9.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2
    ENV/bin/python test/golden/math-verify.py > test/golden/math-verify.json

The pairs stand in math-verify/pairs.txt and math-verify/held-out.txt, one a line: reference, == (right) or != (wrong), prediction;
⏎ is a line end. The sign is a verdict by hand. Pairs under "completions" have a whole completion as prediction.
math-verify reads both sides in a \\boxed{}, a completion as it is. The verdict of sympy comes from a small translation of LaTeX
below, which shares nothing with math-verify; null where it cannot read a side.
"""

import importlib.metadata
import json
import re
import sys
from pathlib import Path

import sympy
from math_verify import parse, verify
from sympy.parsing.sympy_parser import (
    convert_xor,
    factorial_notation,
    implicit_multiplication_application,
    parse_expr,
    split_symbols,
    standard_transformations,
)

HERE = Path(__file__).parent / "math-verify"
TRANSFORMATIONS = (
    *standard_transformations,
    factorial_notation,
    split_symbols,
    implicit_multiplication_application,
    convert_xor,
)
NAMES = {"e": sympy.E, "i": sympy.I, "pi": sympy.pi, "oo": sympy.oo, "ln": sympy.log, "arctan": sympy.atan}
GROUP = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
COMMANDS = {r"\cdot": "*", r"\times": "*", r"\infty": "oo", r"\pi": " pi ", r"\le": "<=", r"\ge": ">=", r"\leq": "<=", r"\geq": ">="}
GREEK = ["theta", "alpha", "beta"]
FUNCTIONS = ["sin", "cos", "tan", "cot", "sec", "ln", "arctan", "gcd"]


def plain(text):
    """LaTeX as an expression that sympy reads."""
    text = re.sub(r"\\(left|right|,|!|;|quad)|\$|\\\$", "", text)
    text = re.sub(r"\\[dtc]frac", r"\\frac", text)
    text = re.sub(r"\\(text|mbox|mathrm|textbf)\{[^{}]*\}(\^\d)?", "", text) or text
    text = text.replace("{,}", ",")
    text = re.sub(r"\^\{?\\circ\}?", "", text)
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text) if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text.strip()) else text
    percent = re.search(r"\\?%\s*$", text)
    text = re.sub(r"\\?%\s*$", "", text)
    text = re.sub(r"\\frac\s*(\d)\s*(\d)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\frac\s*(\d)\s*\{", r"\\frac{\1}{", text)
    text = re.sub(r"\\sqrt\s*(\d)", r"\\sqrt{\1}", text)
    text = re.sub(r"(?<![\w}])(\d+)\s*\\frac\{(\d+)\}\{(\d+)\}", r"(\1+(\2)/(\3))", text)
    text = re.sub(r"\\log_\{?(\w+)\}?\s*(\w+)", r"(log(\2)/log(\1))", text)
    for name in FUNCTIONS:
        text = re.sub(rf"\\{name}\^(\d)\s*(\w+)", rf"({name}(\2))**\1", text)
        text = re.sub(rf"\\{name}\s*(\w)", rf" {name}(\1)", text)
    for _ in range(6):
        text = re.sub(rf"\\frac\s*{GROUP}\s*{GROUP}", r"((\1)/(\2))", text)
        text = re.sub(rf"\\binom\s*{GROUP}\s*{GROUP}", r"binomial(\1,\2)", text)
        text = re.sub(rf"\\sqrt\[(\d+)\]{GROUP}", r"root(\2,\1)", text)
        text = re.sub(rf"\\sqrt{GROUP}", r"sqrt(\1)", text)
        text = re.sub(rf"\^{GROUP}", r"^(\1)", text)
    for command in sorted(COMMANDS, key=len, reverse=True):
        text = text.replace(command, COMMANDS[command])
    text = re.sub(r"\\(" + "|".join(FUNCTIONS + GREEK) + r")(?![a-z])", r" \1 ", text)
    text = re.sub(r"\\lfloor(.*)\\rfloor", r"floor(\1)", text)
    text = re.sub(r"\|([^|]*)\|", r"Abs(\1)", text)
    return text.strip(), bool(percent)


def split(text):
    """At commas outside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def read(text):
    """A kind with its parts. Raises where the text is no expression."""
    text = re.sub(r"\\left\s*|\\right\s*", "", text.strip())
    match = re.fullmatch(r"\\boxed\{(.*)\}", text)
    if match:
        text = match[1]
    text, percent = plain(text)
    if r"\pm" in text:
        return "set", [expression(text.replace(r"\pm", sign)) for sign in "+-"], False
    ends = re.fullmatch(r"(\(|\[|\\\{)(.*?)(\)|\]|\\\})", text)
    if ends and len(split(ends[2])) > 1 and ends[2].count("(") == ends[2].count(")"):
        kind = "set" if ends[1] == r"\{" else ends[1] + ends[3]
        return kind, [expression(part) for part in split(ends[2])], False
    parts = split(text)
    if len(parts) > 1:
        return "set", [expression(re.sub(r"^[a-z]\s*=", "", part)) for part in parts], False
    sides = text.split("=")
    if len(sides) == 2 and "<" not in text and ">" not in text:
        return "equation", [expression(side) for side in sides], False
    return "value", [expression(text)], percent


def expression(text):
    if "\\" in text or "{" in text or re.search(r"[a-zA-Z]{5,}", text.replace("binomial", "")):
        raise ValueError(text)
    return sympy.sympify(parse_expr(text, local_dict=dict(NAMES), transformations=TRANSFORMATIONS))


def same(left, right):
    if left == right:
        return True
    if not (isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)):
        return bool(left.equals(right)) if hasattr(left, "equals") else False
    if not left.is_finite and left.is_number or not right.is_finite and right.is_number:
        return False
    return sympy.simplify(sympy.nsimplify(left, rational=True) - sympy.nsimplify(right, rational=True)) == 0


def by_sympy(gold, prediction):
    try:
        kind, left, left_percent = read(gold)
        other, right, right_percent = read(prediction)
        if "equation" in (kind, other) and kind != other:
            sides = [values[-1] for values in (left, right)]
            return same(*sides)
        if kind == "equation":
            ratio = sympy.simplify((left[0] - left[1]) / (right[0] - right[1]))
            return bool(ratio.is_number and ratio != 0)
        if kind != other or len(left) != len(right):
            return False
        if kind == "set":
            return all(any(same(a, b) for b in right) for a in left) and all(any(same(a, b) for a in left) for b in right)
        if kind == "value" and left_percent != right_percent:
            return any(same(left[0] / k, right[0] / m) for k, m in ((1, 1), (100, 1) if left_percent else (1, 100)))
        return all(same(a, b) for a, b in zip(left, right))
    except Exception:  # whatever the parser raises: it cannot read the text
        return None


def by_math_verify(gold, prediction, completion):
    predicted = parse(prediction if completion else rf"\boxed{{{prediction}}}")
    return bool(verify(parse(rf"\boxed{{{gold}}}"), predicted))


def pairs(file):
    topic = ""
    for line in file.read_text(encoding="utf8").splitlines():
        if line.startswith("# "):
            topic = line[2:]
            continue
        gold, sign, prediction = re.fullmatch(r"(.*?) ([!=]=) (.*)", line).groups()
        prediction = prediction.replace("⏎", "\n")
        completion = topic == "completions"
        yield {
            "part": file.stem,
            "topic": topic,
            "reference": gold,
            "prediction": prediction,
            "completion": completion,
            "right": sign == "==",
            "mathVerify": by_math_verify(gold, prediction, completion),
            "sympy": None if completion else by_sympy(gold, prediction),
        }


def main():
    head = {
        "tool": f"math-verify {importlib.metadata.version('math-verify')}, sympy {sympy.__version__}, "
        f"latex2sympy2_extended {importlib.metadata.version('latex2sympy2_extended')}, python {sys.version.split()[0]}",
        "script": "test/golden/math-verify.py",
    }
    rows = [row for name in ("pairs.txt", "held-out.txt") for row in pairs(HERE / name)]
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    print(f'{json.dumps(head)[:-1]}, "pairs": [\n{body}\n]}}')


main()
