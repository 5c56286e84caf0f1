import type { Random } from "../../base/random.ts";
import { filled, pronouns, SENTENCES, type SentenceName, THINGS } from "./language.ts";
import { given, type Plan, type Quantity } from "./quantities.ts";

/** A way to compute a value: writes its steps. */
export type Route = (plan: Plan) => Quantity;

/** A problem before it is checked and numbered. */
export interface Draft {
  sentences: string[];
  /** Ways to the answer, the plain one first. */
  routes: Route[];
}

/** What a problem is drawn from. */
export interface Place {
  draw: Random;
  steps: number;
  largest: number;
  name: (person: number) => string;
}

/** Draws one problem of a kind; null when the numbers do not work out. */
export type Kind = (place: Place) => Draft | null;

/** A sentence of this meaning in one of its wordings. */
export type Say = (name: SentenceName, slots?: Readonly<Record<string, string | number>>) => string;

/** Sentences about the first two people and three things. */
export function speaker(
  { draw, name }: Place,
  things: readonly string[] = draw.shuffle(THINGS),
): Say {
  const [t = "", u = "", v = ""] = things;
  const people = { p: name(0), q: name(1), ...pronouns(name(0)) };
  const common = { ...people, t, s: `${t}s`, u: `${u}s`, v: `${v}s` };
  return (sentence, slots = {}) =>
    filled(draw.pick<string>(SENTENCES[sentence]), { ...common, ...slots });
}

/** A number to add, from 2. */
export function addend({ draw, largest }: Place): number {
  return 2 + draw.int(Math.max(1, Math.floor(largest * 0.4) - 1));
}

/** A number to multiply by, from 2. */
export function factor({ draw, largest }: Place): number {
  return 2 + draw.int(Math.min(30, Math.floor(Math.sqrt(largest))) - 1);
}

/** A number from 1 to less than `value`; null when there is none. */
export function below({ draw }: Place, value: number): number | null {
  return value < 2 ? null : 1 + draw.int(value - 1);
}

/** A divisor from 2 to 12 that is less than the value; null when there is none. */
export function divisor({ draw }: Place, value: number): number | null {
  const found = Array.from({ length: 11 }, (_, i) => i + 2).filter(
    (each) => value > each && value % each === 0,
  );
  return found.length === 0 ? null : draw.pick(found);
}

/** A number of equal shares; one in four may leave halves or quarters. */
export function shares(place: Place, value: number): number | null {
  const exact = divisor(place, value);
  if (place.draw.int(4) > 0) return exact;
  return value % 4 === 0 ? exact : place.draw.pick([2, 4]);
}

/** A number of the text, as a route. */
export function told(value: number): Route {
  return () => given(value);
}
