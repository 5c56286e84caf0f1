import type { ShownSequence } from "../rewards/context.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { AskedTokens } from "../trajectory/role.ts";
import { tokensThrough } from "./cut-tokens.ts";

/** A sequence with a text that only the model which scores it reads. */
interface Widened extends AskedTokens {
  /** Takes the text's own places out of what a model gave for the sequence. */
  narrow(logprobs: readonly number[]): readonly number[];
}

/** A sequence with the text that is shown; null where it lacks what the text comes after. */
export function withShownText(sequence: ShownSequence, tokenizer: Tokenizer): Widened | null {
  const { ids, isAsked, temperatures, shown } = sequence;
  if (shown === undefined) return { ...sequence, narrow: (logprobs) => logprobs };
  const start = tokenizer.decode(ids).indexOf(shown.after);
  if (start < 0) return null;
  const at = tokensThrough(ids, start + shown.after.length, tokenizer);
  const text = tokenizer.encode(shown.text);
  return {
    ids: ids.toSpliced(at, 0, ...text),
    isAsked: isAsked.toSpliced(at, 0, ...text.map(() => false)),
    temperatures: temperatures?.toSpliced(at, 0, ...text.map(() => 1)),
    narrow: (logprobs) => logprobs.toSpliced(at, text.length),
  };
}
