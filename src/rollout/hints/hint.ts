import { definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/part-members.ts";
import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";
import type { Interjection } from "../dialogue.ts";
import type { TurnPlace } from "../roll-out.ts";

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
  /** Publication, and what is different here. */
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
