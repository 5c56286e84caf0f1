import { chainRoutes, inOrder, type Move, moved } from "./chains.ts";
import { type Kind, type Route, speaker, told } from "./draft.ts";
import { ASKS } from "./language.ts";

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
