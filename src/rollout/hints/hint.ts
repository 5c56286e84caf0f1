import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../roll-out.ts";

/** A message that may get a hint. */
export interface HintMoment {
  place: TurnPlace;
  /** Up to its cut, with prefill and inserted text. */
  message: string;
  /** Characters that always stay: everything through the last hint. */
  from: number;
  /** How often this hint was inserted in the trajectory, this message included. */
  fired: number;
  /** How often it was inserted in this message. */
  firedHere: number;
}

/** A hint in one rollout. Its actions depend only on the rollout's state and its random stream. */
export interface OpenedHint {
  /** Text after the prompt that only the policy reads: training does not see it. Called once. */
  afterPrompt?(place: TurnPlace): string | null;
  /** Prefill of a message, called before each; null: none. It may send the policy a request first. */
  opening?(place: TurnPlace): string | null | Promise<string | null>;
  /** Text to insert into a message: called when the message has ended, and again after each continuation. */
  interject?(moment: HintMoment): Omit<Interjection, "name"> | null;
}

/** Text that steers a policy while it writes: the part decides the place, an option the text. */
export interface HintPart extends PartWithOptions {
  /** Its place, in a few words. */
  readonly where: string;
  /** Its publication, and the differences here. */
  readonly source: string;
  /** Whether it reveals gold annotations or references, with such options; absent: never. */
  readonly readsGold?: (options: unknown) => boolean;
  /**
   * @param options checked by the part's own schema.
   * @param random of this rollout and hint: chooses the text and the places.
   */
  open(options: unknown, random: Random): OpenedHint;
}

/** A hint's definition; its options are already checked. */
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
