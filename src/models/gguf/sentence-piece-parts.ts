import type { DataError } from "../../base/errors.ts";
import { beginProcessor } from "./byte-level-parts.ts";
import type { GgufVocabulary } from "./gguf-vocabulary.ts";

type Vocab = Readonly<Record<string, number>>;

/**
 * Merges of a SentencePiece model, best first: every way to make a token from two tokens, by the token's score.
 * Source: `generate_merges` of transformers' tokenizer conversion.
 */
export function mergesFromScores(
  vocab: Vocab,
  scores: readonly number[],
  fail: (what: string) => DataError,
): [string, string][] {
  const ids = new Map(Object.entries(vocab));
  const highest = [...ids.values()].reduce((most, each) => Math.max(most, each), -1);
  if (scores.length <= highest)
    throw fail(`tokenizer.ggml.scores has ${scores.length} entries for ${highest + 1} tokens`);
  const all: { pair: [string, string]; score: number; sizes: [number, number]; ids: number[] }[] =
    [];
  for (const [token, id] of ids) {
    const letters = Array.from(token);
    for (let cut = 1; cut < letters.length; cut++) {
      const pair: [string, string] = [letters.slice(0, cut).join(""), letters.slice(cut).join("")];
      const [left, right] = pair.map((each) => ids.get(each));
      if (left === undefined || right === undefined) continue;
      const sizes: [number, number] = [cut, letters.length - cut];
      all.push({ pair, score: scores[id]!, sizes, ids: [id, left, right] });
    }
  }
  // Ties: longer left part first, then the order of the vocabulary.
  all.sort(
    (a, b) =>
      b.score - a.score ||
      b.sizes[0] - a.sizes[0] ||
      b.sizes[1] - a.sizes[1] ||
      byIds(a.ids, b.ids),
  );
  return all.map(({ pair }) => pair);
}

function byIds(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((each, i) => each !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** The parts of a `tokenizer.json` of SentencePiece as BPE with byte fallback, as Llama 2's. */
export function sentencePieceParts(
  { merges, vocab }: { merges: readonly (readonly [string, string])[]; vocab: Vocab },
  vocabulary: GgufVocabulary & { addsSpace: boolean },
): Record<string, unknown> {
  const { addsSpace, addsBegin, beginId, unknownId, tokens } = vocabulary;
  const replace = { type: "Replace", pattern: { String: " " }, content: "▁" };
  const normalizer = addsSpace
    ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, replace] }
    : replace;
  const decoders = [
    { type: "Replace", pattern: { String: "▁" }, content: " " },
    ...[{ type: "ByteFallback" }, { type: "Fuse" }],
    ...(addsSpace ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
  ];
  return {
    normalizer,
    pre_tokenizer: null,
    post_processor: (addsBegin ?? true) && beginId !== null ? beginProcessor(vocabulary) : null,
    decoder: { type: "Sequence", decoders },
    model: {
      type: "BPE",
      dropout: null,
      continuing_subword_prefix: null,
      unk_token: unknownId === null ? null : tokens[unknownId],
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab,
      merges,
    },
  };
}
