import type { SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Segment } from "../trajectory/trajectory.ts";
import { cutTokens, wholeTokens } from "./cut-tokens.ts";
import type { Interjection, MessageEnding } from "./dialogue.ts";

/** A message of tokens while it is written: what the policy wrote, and between it what was put there. */
export interface Draft {
  ids(): number[];
  /** Up to the cut, without the end token. */
  text(): string;
  segments(): Segment[];
  /** Adds what the policy wrote, up to where its message ends. @returns how many tokens of it were kept. */
  write(result: SampleResult): number;
  /** Takes back what stands after a place, and puts text there. */
  interrupt(put: Interjection): void;
}

/** A message of which nothing is written yet. */
export function emptyDraft(tokenizer: Tokenizer, ending: MessageEnding): Draft {
  let segments: Segment[] = [];
  let text = "";
  return {
    ids: () => segments.flatMap(({ ids }) => ids),
    text: () => text,
    segments: () => segments,
    write(result) {
      const before = text;
      // The protocol looks at the message as a whole; an ending that was put into it ends it where it is written on.
      const findCut = (written: string): number | null => {
        const cut = ending.findCut(before + written);
        return cut === null ? null : Math.max(0, cut - before.length);
      };
      const { ids, logprobs, text: written } = cutTokens(result, tokenizer, { ...ending, findCut });
      segments.push({ owner: "policy", ids, logprobs });
      text += written;
      return ids.length;
    },
    interrupt({ keep, text: put }) {
      const kept: Segment[] = [];
      let left = keep;
      let rest = "";
      for (const segment of segments) {
        const said = tokenizer.decode(segment.ids);
        const ids = segment.ids.slice(0, wholeTokens(segment.ids, left, tokenizer));
        if (ids.length > 0) {
          const logprobs = segment.logprobs?.slice(0, ids.length) ?? null;
          kept.push({ owner: segment.owner, ids, logprobs });
        }
        if (left <= said.length) {
          // Part of a token: said again with what is put there.
          rest = said.slice(tokenizer.decode(ids).length, left);
          break;
        }
        left -= said.length;
      }
      kept.push({ owner: "inserted", ids: tokenizer.encode(rest + put), logprobs: null });
      segments = kept;
      text = text.slice(0, keep) + put;
    },
  };
}
