import {
  type Kind,
  type Move,
  type Place,
  type Route,
  addend,
  below,
  chainRoutes,
  inOrder,
  moved,
  speaker,
  told,
} from "./chains.ts";
import { ASKS } from "./language.ts";
import { type Plan, type Quantity, applied } from "./quantities.ts";

const RELATIONS = { more: "+", fewer: "-", timesAsMany: "*" } as const;

type Owner = { relation: keyof typeof RELATIONS; of: number; by: number };

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
    (ask === "askShare" &&
      total % values.length !== 0 &&
      !Number.isInteger((total / values.length) * 4))
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

const BIRTHS = { first: 1850, last: 1980 };

/** Years of birth, each relative to the one before: the last year, an age, a difference. */
export const years: Kind = (place) => {
  const { draw, steps, name } = place;
  const say = speaker(place);
  const start = BIRTHS.first + draw.int(BIRTHS.last - BIRTHS.first + 1);
  const ask = draw.pick(["askYear", "askAge", "askOlder"] as const);
  const count = steps - Number(ask !== "askYear");
  if (count > 5 || (ask === "askOlder" && count < 2)) return null;
  const offsets = Array.from({ length: count }, () => 2 + draw.int(38));
  const moves = offsets.map((value): Move => {
    const operation = draw.pick(["+", "-"] as const);
    return { operation, by: told(value), value, question: ASKS.year };
  });
  const sentences = [say("born", { a: start })];
  for (const [i, { operation, value: a }] of moves.entries()) {
    const [older, younger] = operation === "+" ? [i, i + 1] : [i + 1, i];
    const [p, q] = [name(i + 1), name(i)];
    const isOlder = draw.int(3) === 0;
    if (isOlder) sentences.push(say("older", { p: name(older), q: name(younger), a }));
    else sentences.push(say(operation === "+" ? "later" : "earlier", { p, q, a }));
  }
  const last = moved(start, moves);
  if (ask === "askYear") {
    sentences.push(say("askYear", { p: name(count) }));
    return { sentences, routes: chainRoutes(told(start), moves) };
  }
  if (ask === "askAge") {
    const a = last + 5 + draw.int(70);
    const age: Move = { operation: "from", by: told(a), value: a, question: ASKS.age };
    sentences.push(say("askAge", { p: name(count), a }));
    return { sentences, routes: chainRoutes(told(start), [...moves, age]) };
  }
  if (last === start) return null;
  const [p, q] = last > start ? [name(0), name(count)] : [name(count), name(0)];
  sentences.push(say("askOlder", { p, q }));
  const operation = last > start ? "-" : "from";
  const gap: Move = { operation, by: told(start), value: start, question: ASKS.years };
  const [plain, ...others] = chainRoutes(told(start), [...moves, gap]);
  const routes = [plain, offsetRoute(moves, last > start ? "+" : "-"), ...others];
  return { sentences, routes: routes.filter((route) => route !== null && route !== undefined) };
};

/** The difference of the first and the last year from the offsets alone; null when it would be negative on the way. */
function offsetRoute([first, ...rest]: readonly Move[], grows: "+" | "-"): Route | null {
  if (first?.operation !== grows) return null;
  const moves = rest.map((move): Move => ({
    ...move,
    operation: move.operation === grows ? "+" : "-",
    question: ASKS.years,
  }));
  const isPositive = moves.every((_, i) => moved(first.value, moves.slice(0, i + 1)) > 0);
  return isPositive ? inOrder(first.by, moves) : null;
}
