import { addend, below, type Kind, type Place, type Route, speaker, told } from "./draft.ts";
import { ASKS } from "./language.ts";
import { applied, type Plan, type Quantity } from "./quantities.ts";

const RELATIONS = { more: "+", fewer: "-", timesAsMany: "*" } as const;

interface Owner {
  relation: keyof typeof RELATIONS;
  /** Number of the owner that it is compared with. */
  of: number;
  by: number;
}

/** Several people's things, each told relative to another's: the most, the difference, the sum, equal shares. */
export const comparison: Kind = (place) => {
  const { draw, steps, name } = place;
  const say = speaker(place);
  const ask = draw.pick(["askMost", "askGap", "askTogether", "askShare"] as const);
  const count = {
    askMost: steps - 1,
    askGap: steps - 3,
    askTogether: steps / 2,
    askShare: (steps - 1) / 2,
  }[ask];
  if (count < 1 || count > 5 || !Number.isInteger(count)) return null;
  const start = addend(place);
  const values = [start];
  const owners: Owner[] = [];
  const sentences = [say("has", { a: start })];
  for (let i = 0; i < count; i++) {
    const of = draw.int(values.length);
    const owner = related(place, of, values[of] ?? 0);
    if (owner === null) return null;
    owners.push(owner);
    values.push(applied(RELATIONS[owner.relation], [values[of] ?? 0, owner.by]));
    sentences.push(say(owner.relation, { p: name(i + 1), q: name(of), a: owner.by }));
  }
  const total = values.reduce((sum, value) => sum + value, 0);
  const isUneven = new Set(values).size > 1;
  if (
    !isUneven ||
    (ask === "askShare" && total % values.length !== 0 && !isQuarter(total, values.length))
  )
    return null;
  sentences.push(say(ask));
  const each = (plan: Plan): Quantity[] => ownersOf(plan, start, owners);
  return {
    sentences,
    routes: ROUTES[ask].map(
      (route): Route =>
        (plan) =>
          route(plan, each(plan)),
    ),
  };
};

function related(place: Place, of: number, value: number): Owner | null {
  const relation = place.draw.pick(["more", "more", "fewer", "timesAsMany"] as const);
  const by = {
    more: addend(place),
    fewer: below(place, value),
    timesAsMany: 2 + place.draw.int(3),
  };
  const chosen = by[relation];
  return chosen === null ? null : { relation, of, by: chosen };
}

function isQuarter(total: number, count: number): boolean {
  return Number.isInteger((total / count) * 4);
}

/** What each person has, in order. */
function ownersOf(plan: Plan, start: number, owners: readonly Owner[]): Quantity[] {
  const found = [told(start)(plan)];
  for (const { relation, of, by } of owners) {
    const base = found[of] ?? told(NaN)(plan);
    found.push(plan(ASKS.owned, RELATIONS[relation], base, told(by)(plan)));
  }
  return found;
}

type End = (plan: Plan, owned: Quantity[]) => Quantity;

const summed: End = (plan, [first, ...others]) =>
  others.reduce((sum, each) => plan(ASKS.together, "+", sum, each), first ?? told(0)(plan));

const most: End = (plan, owned) => plan(ASKS.most, "max", ...owned);

/** Two at a time. */
const mostByPairs: End = (plan, [first, ...others]) =>
  others.reduce((best, each) => plan(ASKS.most, "max", best, each), first ?? told(0)(plan));

const gap =
  (best: End): End =>
  (plan, owned) =>
    plan(ASKS.gap, "-", best(plan, owned), plan(ASKS.fewest, "min", ...owned));

const share =
  (sum: End): End =>
  (plan, owned) =>
    plan(ASKS.each, "/", sum(plan, owned), told(owned.length)(plan));

const fromLast: End = (plan, owned) => summed(plan, owned.toReversed());

const ROUTES: Record<"askMost" | "askGap" | "askTogether" | "askShare", readonly End[]> = {
  askMost: [most, mostByPairs],
  askGap: [gap(most), gap(mostByPairs)],
  askTogether: [summed, fromLast],
  askShare: [share(summed), share(fromLast)],
};
