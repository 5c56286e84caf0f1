import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../roll-out.ts";

/** A message in which a hint may be put. */
export interface HintMoment {
  place: TurnPlace;
  /** Up to its cut, with what it was made to begin with and what was put into it. */
  message: string;
  /** Characters that stay whatever happens: the opening, and all through the last hint. */
  from: number;
  /** How often this hint was put into messages of the trajectory, this one included. */
  fired: number;
  /** And how often into this one. */
  firedHere: number;
}

/** A hint at work in one rollout. What it does follows from where the rollout stands and its random stream alone. */
export interface OpenedHint {
  /** What the policy reads after its prompt; withheld from whoever learns from the trajectory. Asked once. */
  afterPrompt?(place: TurnPlace): string | null;
  /** What a message is made to begin with, asked before each; null: nothing. It may ask the policy first. */
  opening?(place: TurnPlace): string | null | Promise<string | null>;
  /** What is put into a message: asked when the message has ended, and again each time it was written on. */
  interject?(moment: HintMoment): Omit<Interjection, "name"> | null;
}

/** Text that steers a policy while it writes: where it is put is the part, what it says is an option. */
export interface HintPart extends PartWithOptions {
  /** Where it is put, in a few words. */
  readonly where: string;
  /** Where it is published, and what is different here. */
  readonly source: string;
  /** Whether it tells what a question's annotations or references know, under such options; absent: never. */
  readonly readsGold?: (options: unknown) => boolean;
  /**
   * @param options checked by the part's own schema.
   * @param random of this rollout and hint: which text is taken, and whether.
   */
  open(options: unknown, random: Random): OpenedHint;
}

/** A hint as its file writes it: options checked before they reach it. */
interface Described<S extends z.ZodObject> extends Omit<
  HintPart,
  "options" | "open" | "readsGold"
> {
  options: S;
  readsGold?: (options: z.output<S>) => boolean;
  open: (options: z.output<S>, random: Random) => OpenedHint;
}

export function defineHint<S extends z.ZodObject>(described: Described<S>): HintPart {
  const { name, options, readsGold, open, ...rest } = described;
  const checked = (given: unknown): z.output<S> => parseOptions(options, given, name);
  return {
    ...{ name, options, ...rest },
    ...(readsGold === undefined ? {} : { readsGold: (given) => readsGold(checked(given)) }),
    open: (given, random) => open(checked(given), random),
  };
}
