import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../roll-out.ts";

/** A hint at work in one rollout: it may count what it did. */
export interface OpenedHint {
  /** What the policy reads after its prompt; withheld from whoever learns from the trajectory. Asked once. */
  afterPrompt?(place: TurnPlace): string | null;
  /** What a message is made to begin with, asked before each; null: nothing. It may ask the policy first. */
  opening?(place: TurnPlace): string | null | Promise<string | null>;
  /** What is put into a message: asked when the message has ended, and again each time it was written on. */
  interject?(message: string, place: TurnPlace): Interjection | null;
}

/** Text that steers a policy while it writes: where it is put is the part, what it says is an option. */
export interface HintPart extends PartWithOptions {
  /** Where it is published, and what is different here. */
  readonly source: string;
  /**
   * @param options checked by the part's own schema.
   * @param random of this rollout and hint: which text is taken, and whether.
   */
  open(options: unknown, random: Random): OpenedHint;
}
