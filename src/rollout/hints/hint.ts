import { type PartWithOptions, definer } from "../../base/define-part.ts";
import type { Random } from "../../base/random.ts";
import { requireReturned } from "../../base/registry.ts";
import { choice, z } from "../../base/schema.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../play-message.ts";

interface LibraryText {
  readonly tool: "search" | "code";
  readonly intent: Intent;
  readonly texts: readonly [string, ...string[]];
}

const CODE = "\n```python\n";

/** Hints by name, for search and for code (these end where a program begins). Intents from START, CoRT and Tool-Star; our wording. */
const library = {
  "search-opening": {
    tool: "search",
    intent: "opening",
    texts: [
      " What I remember may be wrong. I will look up, one search after another, what the question needs, and answer from what I find.",
      " I should not settle this from memory: step by step, I search for each thing that I need to know.",
      " First I work out what has to be known here, then I search for it, more than once if need be.",
    ],
  },
  "search-verification": {
    tool: "search",
    intent: "verification",
    texts: [" Wait: I could search for that to make sure, before I answer."],
  },
  "search-reflection": {
    tool: "search",
    intent: "reflection",
    texts: [
      " My answer would be: {answer}. Before I give it, I should look for something that could show it wrong.",
      " So far I would say {answer}. A search can tell me whether that holds.",
    ],
  },
  "search-doubt": {
    tool: "search",
    intent: "doubt",
    texts: [
      " I am not certain of this step, so I check it with a search instead of going on from it.",
      " This is the weak point of what I have so far: I should look it up.",
    ],
  },
  "search-alternative": {
    tool: "search",
    intent: "alternative",
    texts: [
      ", there is another way: I can search for this.",
      ", instead of turning it over in my head I could look it up.",
    ],
  },
  "search-guess": {
    tool: "search",
    intent: "guess",
    texts: [
      " Going by memory here is guesswork. A search is quicker and surer.",
      " I would only be guessing. The corpus can tell me, so I search.",
    ],
  },
  "search-trust": {
    tool: "search",
    intent: "trust",
    texts: [
      " What was found says it plainly and need not be doubted; what I have to see is whether it answers the question.",
      " I can rely on the passages. The only open matter is whether I searched for the right thing.",
    ],
  },
  "code-opening": {
    tool: "code",
    intent: "opening",
    texts: [
      " I will solve this step by step, and leave every computation to a Python program instead of doing it by hand.",
      " Whatever has to be computed here I compute with Python, in several runs if need be.",
    ],
  },
  "code-verification": {
    tool: "code",
    intent: "verification",
    texts: [` Wait: I could run a short Python program to make sure, before I answer.${CODE}`],
  },
  "code-reflection": {
    tool: "code",
    intent: "reflection",
    texts: [
      ` My answer would be: {answer}. Before I give it, a program can test it against what the question demands.${CODE}`,
    ],
  },
  "code-doubt": {
    tool: "code",
    intent: "doubt",
    texts: [` I am not certain that this step follows; running it in Python will tell.${CODE}`],
  },
  "code-alternative": {
    tool: "code",
    intent: "alternative",
    texts: [`, there is another way to get this: a Python program can work it out.${CODE}`],
  },
  "code-guess": {
    tool: "code",
    intent: "guess",
    texts: [
      ` Doing this by hand is long and easy to get wrong. Python does it at once.${CODE}`,
      ` That is a computation, not an argument: I leave it to Python.${CODE}`,
    ],
  },
  "code-trust": {
    tool: "code",
    intent: "trust",
    texts: [
      " The interpreter computed this, so the number itself needs no second look; whether the program says what I meant is all that I check.",
    ],
  },
  "code-debug": {
    tool: "code",
    intent: "debug",
    texts: [
      ` Before I hand this program in, I run it on the examples of the task and compare what it prints with what is expected.${CODE}examples = []  # (input, expected output)\nfor given, expected in examples:\n    found = solve(given)\n    print(found == expected, given, found, expected)\n`,
    ],
  },
} as const satisfies Record<string, LibraryText>;

type LibraryName = keyof typeof library;

const named = z.strictObject({ library: z.enum(Object.keys(library) as LibraryName[]) });
const texts = z.array(z.string().min(1)).min(1);

/** Text of a hint: one text, a list (one is drawn each time), or `{ library: NAME }`. */
type HintText = string | string[] | z.output<typeof named>;

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

type Intent =
  "opening" | "verification" | "reflection" | "doubt" | "alternative" | "guess" | "trust" | "debug";

/** A message that may get a hint. */
export interface HintMoment {
  place: TurnPlace;
  message: string;
  /** Characters that no hint may remove: the prefill, and the text through the last hint. */
  from: number;
  /** Insertions of this hint in the trajectory, this message included. */
  fired: number;
  firedHere: number;
}

/** A hint in one rollout. It depends only on the rollout's state and its own random stream. */
export interface OpenedHint {
  /** Text that the policy reads after its prompt and that training leaves out. Called once. */
  afterPrompt?(place: TurnPlace): string | null;
  /** Prefill of a message, called before each; null: none. It may ask the policy. */
  prefill?(place: TurnPlace): string | null | Promise<string | null>;
  /** The next insertion into a message: called when the message has ended, and after each continuation. */
  interject?(moment: HintMoment): Omit<Interjection, "name"> | null;
}

/** A hint steers a policy while it writes. The part says where the text goes; the text is an option. */
export interface HintPart extends PartWithOptions {
  readonly where: string;
  readonly source: string;
  /** Whether its text contains references or gold annotations of the question, under these options. */
  readonly readsGold: (options: unknown) => boolean;
  /** @param options checked by the part's own schema. @param random stream of this rollout and hint. */
  open(options: unknown, random: Random): OpenedHint;
}

/** Makes a hint. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineHint = definer<HintPart>()("hint", {
  defaults: { source: "" },
  members: { where: "text" },
  functions: {
    readsGold: { at: 0, otherwise: false },
    open: {
      at: 0,
      returned(hint: OpenedHint, { what }) {
        requireReturned(what, hint, {});
        return hint;
      },
    },
  },
});
