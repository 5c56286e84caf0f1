import {
  type Kind,
  type Move,
  type Place,
  type Route,
  addend,
  below,
  chainRoutes,
  divisor,
  factor,
  inOrder,
  moved,
  shares,
  speaker,
  told,
} from "./chains.ts";
import { ASKS, type SentenceName, THINGS } from "./language.ts";
import { applied } from "./quantities.ts";

interface Event {
  says: SentenceName;
  operation: Move["operation"];
  /** Numbers of the sentence: the change, or boxes and things in each. */
  numbers: (place: Place, now: number) => (number | null)[];
}

const EVENTS: readonly Event[] = [
  { says: "gain", operation: "+", numbers: (place) => [addend(place)] },
  { says: "lose", operation: "-", numbers: (place, now) => [below(place, now)] },
  { says: "gainBoxes", operation: "+", numbers: (place) => [factor(place), factor(place)] },
  { says: "loseBoxes", operation: "-", numbers: (place) => [factor(place), factor(place)] },
  { says: "multiply", operation: "*", numbers: ({ draw }) => [2 + draw.int(4)] },
  { says: "keep", operation: "/", numbers: (place, now) => [divisor(place, now)] },
];

/** What one person has: bought, lost, multiplied, shared. */
export const stock: Kind = (place) => {
  const { draw, steps } = place;
  const say = speaker(place);
  const start = addend(place);
  const sentences = [say("has", { a: start })];
  const moves: Move[] = [];
  const ask = draw.pick(["askNow", "askNow", "askRest", "askMissing"] as const);
  for (let left = steps - (ask === "askNow" ? 0 : 1); left > 0;) {
    const now = moved(start, moves);
    const { says, operation, numbers } = draw.pick(EVENTS);
    const [a, b] = numbers(place, now);
    left -= b === undefined ? 1 : 2;
    if (a == null || b === null || left < 0) return null;
    sentences.push(say(says, b === undefined ? { a } : { a, b }));
    const by: Route =
      b === undefined ? told(a) : (plan) => plan(ASKS.boxes, "*", told(a)(plan), told(b)(plan));
    moves.push({ operation, by, value: a * (b ?? 1), question: ASKS.now });
  }
  const now = moved(start, moves);
  if (ask === "askRest") {
    const a = 2 + draw.int(11);
    if (now <= a) return null;
    sentences.push(say("packs", { a }), say("askRest"));
    moves.push({ operation: "%", by: told(a), value: a, question: ASKS.rest });
  } else if (ask === "askMissing") {
    const a = now + addend(place);
    sentences.push(say("askMissing", { a }));
    moves.push({ operation: "from", by: told(a), value: a, question: ASKS.missing });
  } else sentences.push(say("askNow"));
  return { sentences, routes: chainRoutes(told(start), moves) };
};

/** A number of equal parts, each with its size: lamps and their price, hours and their speed. */
type Part = readonly [count: number, size: number];

/** Ways to compute a sum of products: part by part, in the other order, and with a common factor taken out. */
function sumRoutes(
  parts: readonly Part[],
  asks: Record<"part" | "sum" | "common", string>,
): Route[] {
  const products = parts.map(
    ([count, size]): Route =>
      (plan) =>
        plan(asks.part, "*", told(count)(plan), told(size)(plan)),
  );
  const summed =
    (routes: readonly Route[], question: string): Route =>
    (plan) => {
      const [first, ...others] = routes.map((route) => route(plan));
      return others.reduce((sum, other) => plan(question, "+", sum, other), first ?? told(0)(plan));
    };
  const inCommon = ([0, 1] as const).flatMap((side): Route[] => {
    const [common = 0, ...rest] = parts.map((part) => part[side]);
    if (rest.length === 0 || rest.some((each) => each !== common)) return [];
    const others = summed(
      parts.map((part) => told(part[1 - side] ?? 0)),
      asks.common,
    );
    return [(plan) => plan(asks.sum, "*", others(plan), told(common)(plan))];
  });
  const reversed = parts.length > 1 ? [summed(products.toReversed(), asks.sum)] : [];
  return [summed(products, asks.sum), ...inCommon, ...reversed];
}

function totalOf(parts: readonly Part[]): number {
  return parts.reduce((sum, [count, size]) => sum + count * size, 0);
}

/** One to three parts; every other time they share a factor. */
function partsOf(place: Place, count: number): Part[] {
  const common = place.draw.int(2) === 0 ? factor(place) : null;
  return Array.from({ length: count }, () => [common ?? factor(place), factor(place)] as const);
}

/** Products of which the first way is combined with all ways of the moves, and the other ways with the moves in order. */
function storyRoutes([first = told(0), ...others]: Route[], moves: readonly Move[]): Route[] {
  return [...chainRoutes(first, moves), ...others.map((start) => inOrder(start, moves))];
}

const BUYS = ["buysOne", "buysTwo", "buysThree"] as const;

/** Prices, a discount, change, a shared bill. */
export const shop: Kind = (place) => {
  const { draw, steps } = place;
  const things = draw.shuffle(THINGS);
  const say = speaker(place, things);
  const parts = partsOf(place, 1 + draw.int(3));
  const isReduced = draw.int(3) === 0;
  const ask = draw.pick(["askPrice", "askBack", "askEach"] as const);
  const cost = 2 * parts.length - 1 + Number(isReduced) + Number(ask !== "askPrice");
  if (cost !== steps) return null;
  const total = totalOf(parts);
  const sentences = parts.map(([, price], i) => say("costs", { t: things[i] ?? "", a: price }));
  const [a = 0, b = 0, c = 0] = parts.map(([count]) => count);
  sentences.push(say(BUYS[parts.length - 1] ?? "buysOne", { a, b, c }));
  const moves: Move[] = [];
  if (isReduced) {
    const less = below(place, total);
    if (less === null) return null;
    sentences.push(say("discount", { a: less }));
    moves.push({ operation: "-", by: told(less), value: less, question: ASKS.reduced });
  }
  const price = moved(total, moves);
  if (ask === "askBack") {
    const paid = price + 1 + draw.int(20);
    sentences.push(say("pays", { a: paid }));
    moves.push({ operation: "from", by: told(paid), value: paid, question: ASKS.back });
  } else if (ask === "askEach") {
    const friends = shares(place, price);
    if (friends === null) return null;
    sentences.push(say("friends", { a: friends }));
    moves.push({ operation: "/", by: told(friends), value: friends, question: ASKS.each });
  }
  sentences.push(say(ask));
  const asks = { part: ASKS.price, sum: ASKS.total, common: ASKS.set };
  return { sentences, routes: storyRoutes(sumRoutes(parts, asks), moves) };
};

/** Machines that make so much an hour. */
export const rate: Kind = (place) => {
  const { draw, steps } = place;
  const say = speaker(place);
  const extras = new Set(draw.shuffle(["machines", "broken", "boxes"]).slice(0, steps - 2));
  if (extras.size !== steps - 2) return null;
  const start = factor(place);
  const sentences = [say("makes", { a: start })];
  const moves: Move[] = [];
  // A number that does not exist becomes NaN, which no route may contain.
  const change = (operation: Move["operation"], found: number | null, question: string): number => {
    const value = found ?? NaN;
    moves.push({ operation, by: told(value), value, question });
    return value;
  };
  sentences.push(say("hours", { a: change("*", 2 + draw.int(9), ASKS.day) }));
  if (extras.has("machines"))
    sentences.push(say("machines", { a: change("*", factor(place), ASKS.day) }));
  if (extras.has("broken")) {
    const now = moved(start, moves);
    sentences.push(say("broken", { a: change("-", below(place, now), ASKS.day) }));
  }
  const days = change("*", 2 + draw.int(6), ASKS.made);
  if (extras.has("boxes")) {
    const a = change("/", divisor(place, moved(start, moves)), ASKS.full);
    sentences.push(say("askBoxes", { a, b: days }));
  } else sentences.push(say("askDays", { a: days }));
  return { sentences, routes: chainRoutes(told(start), moves) };
};

/** Hours at a speed, and the rest of the way. */
export const travel: Kind = (place) => {
  const { draw, steps } = place;
  const say = speaker(place);
  const parts = partsOf(place, 1 + draw.int(3));
  const ask = draw.pick(["askMiles", "askLeft", "askTime"] as const);
  const extra = { askMiles: 0, askLeft: 1, askTime: 2 }[ask];
  if (2 * parts.length - 1 + extra !== steps) return null;
  const sentences = parts.map(([a, b], i) => say(i === 0 ? "travels" : "travelsOn", { a, b }));
  const total = totalOf(parts);
  const moves: Move[] = [];
  const speed = factor(place);
  const rest = ask === "askTime" ? applied("*", [speed, 2 + draw.int(8)]) : addend(place);
  if (ask !== "askMiles") {
    const way = total + rest;
    sentences.push(say("way", { a: way }));
    moves.push({ operation: "from", by: told(way), value: way, question: ASKS.left });
  }
  if (ask === "askTime")
    moves.push({ operation: "/", by: told(speed), value: speed, question: ASKS.time });
  sentences.push(say(ask, { a: speed }));
  const asks = { part: ASKS.miles, sum: ASKS.way, common: ASKS.changes };
  return { sentences, routes: storyRoutes(sumRoutes(parts, asks), moves) };
};
