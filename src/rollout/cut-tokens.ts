import type { SampleResult } from "../engine/engine.ts";
import type { Protocol } from "../env/protocols/protocol.ts";
import type { Tokenizer } from "../text/tokenizer.ts";

/** A message as the environment takes it. */
export interface CutMessage {
  /** Whole tokens, through the one that closes the cut. */
  ids: number[];
  logprobs: number[];
  /** The text up to the cut, without the end token. */
  text: string;
}

/** Cuts what was sampled where the protocol says the message ends. Ids are kept, never encoded again. */
export function cutTokens(
  result: SampleResult,
  tokenizer: Tokenizer,
  protocol: Protocol,
): CutMessage {
  const { ids, logprobs } = result;
  const ended = tokenizer.endId !== null && ids.at(-1) === tokenizer.endId;
  const whole = tokenizer.decode(ended ? ids.slice(0, -1) : ids);
  const cut = protocol.findCut(whole);
  if (cut === null) return { ids, logprobs, text: whole };
  let kept = ids.length;
  while (kept > 1 && tokenizer.decode(ids.slice(0, kept - 1)).length >= cut) kept -= 1;
  return { ids: ids.slice(0, kept), logprobs: logprobs.slice(0, kept), text: whole.slice(0, cut) };
}
