import type { Random } from "../../base/random.ts";
import { choice, z } from "../../base/schema.ts";
import type { HintMoment } from "./hint.ts";
import { library, type LibraryName } from "./library.ts";

const named = z.strictObject({ library: z.enum(Object.keys(library) as LibraryName[]) });
const texts = z.array(z.string().min(1)).min(1);

/** Text of a hint: one text, a list (one is drawn each time), or `{ library: NAME }`. */
export type HintText = string | string[] | z.output<typeof named>;

/** A text is drawn per turn and insertion. */
type DrawnFor = Pick<HintMoment, "place" | "firedHere">;

/** @param standard default: an entry of the library, or a text. */
export function hintText(standard: HintText) {
  return choice<HintText>((value) => {
    if (typeof value === "string") return { schema: z.string().min(1), value };
    return { schema: Array.isArray(value) ? texts : named, value };
  }).prefault(standard);
}

/** All texts of a hint, with their placeholders. */
export function textsOf(text: HintText): readonly string[] {
  if (typeof text === "string") return [text];
  return Array.isArray(text) ? text : library[text.library].texts;
}

/** Draws one of a hint's texts for a message. @param random of the hint. */
export function drawText(text: HintText, random: Random, { place, firedHere }: DrawnFor): string {
  return random.derive("text", place.turn, firedHere).pick(textsOf(text));
}

/** A thought with its opening tag. */
export function begunThought(thought: string, thoughtOpening: string): string {
  return thought.startsWith(thoughtOpening) ? thought : thoughtOpening + thought;
}

/**
 * Replaces each `{name}` in one pass, so values may contain braces. Unknown names in braces stay.
 * @returns null if the text uses a name whose value is null.
 */
export function filled(
  text: string,
  known: Readonly<Record<string, string | null>>,
): string | null {
  const names = Object.keys(known);
  const lacks = names.some((name) => known[name] === null && text.includes(`{${name}}`));
  if (lacks) return null;
  return text.replace(/\{([a-z]+)\}/g, (as, name: string) => known[name] ?? as);
}
