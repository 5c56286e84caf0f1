"""Computes every figure of kept results again from their values by question, without any code of the package.

Usage: python3 scripts/check-results.py recipes/results/*.json     (needs scipy)

Prints one line a file and every figure that differs by more than 1e-9; exit status 1 if there is one. Results of the first procedure hold no
values by question and are named. docs/claims.md says the procedure in words.
"""

import base64
import gzip
import json
import math
import re
import sys

from scipy import stats

TOLERANCE = 1e-9
NUMBER = r"\d+\.?\d*|\.\d+"
SIDE = re.compile(
    rf"^(?:(?P<factor>{NUMBER})\s*\*\s*)?"
    r"(?:(?P<metric>\S.*)\((?P<of>[a-z][a-z0-9-]*)\)|(?P<arm>[a-z][a-z0-9-]*))"
    rf"(?:\s*(?P<sign>[+-])\s*(?P<plus>{NUMBER}))?$"
)


def side(text):
    """A side of a comparison: arm, metric, factor and what is added; without an arm a number."""
    if re.fullmatch(rf"-?(?:{NUMBER})", text.strip()):
        return {"arm": None, "metric": None, "factor": 1.0, "plus": float(text)}
    found = SIDE.match(text.strip()).groupdict()
    plus = float(found["plus"] or 0) * (-1 if found["sign"] == "-" else 1)
    return {
        "arm": found["of"] or found["arm"],
        "metric": found["metric"],
        "factor": float(found["factor"] or 1),
        "plus": plus,
    }


def mean(values):
    return math.fsum(values) / len(values)


def squared_error(values):
    """Squared standard error of the mean, and its degrees of freedom."""
    degrees = len(values) - 1
    centre = mean(values)
    return math.fsum((v - centre) ** 2 for v in values) / degrees / len(values), degrees


def compare(left, right, is_share, level, margin, effect, prior):
    """`left`: factor, values by seed, values by seed and question (or None); `right` the same, or a number."""
    factor, by_seed, by_question = left
    if isinstance(right, float):
        low, high = sorted([-right, factor - right])
        seeds = [factor * v - right for v in by_seed]
        pseudo = [factor - right, -right] * 2
        others = None
    else:
        of_right, others_by_seed, others = right
        low, high = -of_right, factor
        seeds = [factor * a - of_right * b for a, b in zip(by_seed, others_by_seed)]
        pseudo = [factor, -of_right]
    known = by_question is not None and (isinstance(right, float) or others is not None)
    if known:
        ours = [mean(column) for column in zip(*by_question)]
        if isinstance(right, float):
            questions = [factor * v - right for v in ours]
        else:
            theirs = [mean(column) for column in zip(*others)]
            questions = [factor * a - of_right * b for a, b in zip(ours, theirs)]
    else:
        questions = None
    extra = pseudo if is_share and known else []
    shrunk = [
        (v * len(questions) + sum(extra)) / (len(questions) + len(extra)) if known else v for v in seeds
    ]
    difference = mean(questions) if known else mean(seeds)
    if len(seeds) < 2:
        return {"difference": difference, "p": None, "pEffect": None, "ci95": None, "error": None}
    variance, degrees = squared_error(shrunk)
    if prior is not None:
        n = len(seeds)
        all_degrees = prior["degrees"] + degrees
        moderated = (prior["degrees"] * prior["deviation"] ** 2 + degrees * variance * n) / all_degrees
        variance, degrees = moderated / n, all_degrees
    parts = [(variance, degrees)]
    if known:
        parts.append(squared_error(questions + extra))
    total = sum(v for v, _ in parts)
    if math.sqrt(total) <= 1e-12:
        return {"difference": difference, "p": None, "pEffect": None, "ci95": None, "error": None}
    freedom = total**2 / sum(v**2 / d for v, d in parts)
    centre = mean(questions + extra) if known else mean(seeds)
    error = math.sqrt(total)
    half = stats.t.ppf(1 - level / 2, freedom) * error
    interval = [centre - half, centre + half]
    if is_share:
        interval = [max(low, interval[0]), min(high, interval[1])]
    return {
        "difference": difference,
        "p": 2 * stats.t.sf(abs(centre - margin) / error, freedom),
        "pEffect": None if effect is None or margin < 0 else stats.t.sf((margin + effect - centre) / error, freedom),
        "ci95": interval,
        "error": error,
    }


def holm(ps):
    """Holm's correction; None stays None and is no test."""
    known = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    out, running = [None] * len(ps), 0.0
    for rank, (p, i) in enumerate(known):
        running = max(running, min(1.0, p * (len(known) - rank)))
        out[i] = running
    return out


def check(path):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    if results["format"] == 1:
        return None
    packed = json.loads(gzip.decompress(base64.b64decode(results["questions"])))
    differing = []

    def expect(where, stored, computed):
        if stored is None or computed is None:
            if (stored is None) != (computed is None):
                differing.append((where, stored, computed))
        elif abs(stored - computed) > TOLERANCE * max(1.0, abs(stored)):
            differing.append((where, stored, computed))

    prior = results["prior"]
    family = []
    for claim in results["claims"]:
        seeds_of = {arm["name"]: arm["seeds"] for arm in claim["arms"]}

        def runs(arm, claim=claim, seeds_of=seeds_of):
            own = [r for r in results["runs"] if f"{claim['id']}/{arm}" in r["arms"]]
            return [next(r for r in own if r["seed"] == seed) for seed in seeds_of[arm]]

        parts = [(side(c["left"]), c["relation"], side(c["right"]), c) for c in claim["comparisons"]]
        asked = [(arm["name"], claim["metric"]) for arm in claim["arms"]]
        asked += [
            (s["arm"], s["metric"] or claim["metric"])
            for left, _, right, _ in parts
            for s in (left, right)
            if s["arm"] is not None
        ]
        lists = [packed["runs"][r["key"]].get(metric) for arm, metric in asked for r in runs(arm)]
        if any(entry is None for entry in lists):
            shared = None
        else:
            tables = [dict(zip(packed["ids"][e["ids"]], e["values"])) for e in lists]
            shared = [i for i in packed["ids"][lists[0]["ids"]] if all(i in t for t in tables)] or None

        def measured(arm, metric):
            own = runs(arm)
            by_seed = [r["measured"][metric]["value"] for r in own]
            if shared is None:
                return by_seed, None
            rows = []
            for r in own:
                entry = packed["runs"][r["key"]][metric]
                table = dict(zip(packed["ids"][entry["ids"]], entry["values"]))
                rows.append([table[i] for i in shared])
            return by_seed, rows

        def constant(arm, metric):
            outcomes = {r["measured"][metric]["outcome"] for r in runs(arm)}
            return len(runs(arm)) > 1 and len(outcomes) == 1 and None not in outcomes

        for arm in claim["arms"]:
            by_seed, _ = measured(arm["name"], claim["metric"])
            expect(f"{claim['id']}/{arm['name']} mean", arm["mean"], mean(by_seed))
        size = None if claim["effect"] is None else claim["effect"]["size"]
        for left, relation, right, stored in parts:
            greater, lesser = (right, left) if relation.startswith("<") else (left, right)
            sides = [s for s in (greater, lesser) if s["arm"] is not None]
            pairs = [(s["arm"], s["metric"] or claim["metric"]) for s in sides]
            draws = [r["measured"][m]["draws"] for a, m in pairs for r in runs(a)]
            varies = not all(constant(a, m) for a, m in pairs)
            share = stored["isShare"]
            own_prior = prior if share and varies and min(draws) >= 4 else None
            plus = lesser["plus"] - greater["plus"]
            options = {"is_share": share, "level": claim["level"], "effect": size, "prior": own_prior}
            if greater["arm"] is not None and lesser["arm"] is not None:
                found = compare(
                    (greater["factor"], *measured(*pairs[0])),
                    (lesser["factor"], *measured(*pairs[1])),
                    margin=plus,
                    **options,
                )
            elif greater["arm"] is not None:
                found = compare((greater["factor"], *measured(*pairs[0])), plus, margin=0, **options)
            else:
                found = compare((-lesser["factor"], *measured(*pairs[0])), plus, margin=0, **options)
            where = f"{claim['id']} {stored['left']} {relation} {stored['right']}"
            if stored["verdict"] == "identical arms":
                found = {**found, "p": None, "pEffect": None, "ci95": None}
            sign = -1 if relation.startswith("<") else 1
            expect(f"{where} difference", stored["difference"], sign * found["difference"])
            expect(f"{where} p", stored["p"], found["p"])
            expect(f"{where} p of the effect", stored["pEffect"], found["pEffect"])
            interval = found["ci95"]
            if interval is not None and sign < 0:
                interval = [-interval[1], -interval[0]]
            for end in (0, 1):
                expect(
                    f"{where} interval",
                    None if stored["ci95"] is None else stored["ci95"][end],
                    None if interval is None else interval[end],
                )
            if claim["role"] == "claim":
                family.append((where, stored, found))
    for name, of in (("pHolm", "p"), ("pEffectHolm", "pEffect")):
        for (where, stored, _), p in zip(family, holm([found[of] for _, _, found in family])):
            expect(f"{where} {name}", stored[name], p)
    return differing


def main():
    failed = False
    for path in sys.argv[1:]:
        differing = check(path)
        if differing is None:
            print(f"{path}: first procedure, no values by question")
            continue
        print(f"{path}: {'equal' if not differing else f'{len(differing)} figures differ'}")
        for where, stored, computed in differing:
            print(f"  {where}: stored {stored}, computed {computed}")
        failed = failed or bool(differing)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
