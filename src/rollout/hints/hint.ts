import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../roll-out.ts";

/** A message that may get a hint. */
export interface HintMoment {
  place: TurnPlace;
  /** Up to its cut, with prefill and inserted hints. */
  message: string;
  /** Characters that no hint may remove: the prefill, and the text through the last hint. */
  from: number;
  /** Insertions of this hint in the trajectory, this message included. */
  fired: number;
  /** Insertions of this hint in this message. */
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
  /** Where the text goes, in a few words. */
  readonly where: string;
  /** Publication, and what is different here. */
  readonly source: string;
  /** Whether its text contains references or gold annotations of the question, under these options; absent: never. */
  readonly readsGold?: (options: unknown) => boolean;
  /**
   * @param options checked by the part's own schema.
   * @param random stream of this rollout and hint.
   */
  open(options: unknown, random: Random): OpenedHint;
}

/** A hint's definition; `defineHint` checks the options before each call. */
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
    name,
    options,
    ...rest,
    readsGold: readsGold === undefined ? undefined : (given) => readsGold(checked(given)),
    open: (given, random) => open(checked(given), random),
  };
}
