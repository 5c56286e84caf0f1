import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { type DecoderConfig, plainFeatures } from "../../src/models/config.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { EMBEDDING, HEAD } from "../../src/models/parameters.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";

/** Stands for any text that no path names, such as a prompt. */
export const ANY = "*";
export const END = "<|im_end|>";

const WIDTH = 64;
/** Logit of a token that may follow; at 10, one token in about 70 is another one. */
const LIKELY = 10;
/** What the last norm gives the dimension of the last token, about. */
const NORMED = 7;

/**
 * Writes a Qwen2 of two layers and random weights, except that the last token decides the likely next ones: each path is a sequence of
 * texts, one token each, that follow each other. So a random model calls tools, ends its messages and is sometimes right.
 *
 * @param chatTemplate absent: a base model.
 */
export async function writeScriptedModel(
  folder: string,
  given: {
    paths: readonly (readonly string[])[];
    /** Further tokens. */
    words: readonly string[];
    chatTemplate?: string;
  },
): Promise<string> {
  const { paths, words, chatTemplate } = given;
  const texts = [...new Set(paths.flat())].filter((text) => text !== ANY && text !== END);
  const { tokenizer, config } = wordTokenizer({
    words,
    // Longer texts first: where two match, the first one listed is taken.
    specials: [END, "<|pad|>", "<|im_start|>", ...texts.sort((a, b) => b.length - a.length)],
  });
  const vocabulary = (tokenizer as { model: { vocab: Record<string, number> } }).model.vocab;
  const shape: DecoderConfig = {
    ...plainFeatures,
    ...{ architecture: "qwen2", qkvBias: true, tiedEmbeddings: false },
    ...{ vocabSize: Object.keys(vocabulary).length, hiddenSize: WIDTH, intermediateSize: 64 },
    ...{ layers: 2, heads: 4, kvHeads: 2, headDim: 16 },
    ...{ normEpsilon: 1e-6, ropeTheta: 1_000_000, maxPositions: 32_768 },
  };
  const named = new Map(initialWeights(shape, 7).map((tensor) => [tensor.name, tensor]));
  const [embedding, head] = [named.get(EMBEDDING)!.data, named.get(HEAD)!.data];
  const dimensionOf = (text: string): number => texts.indexOf(text) + 1;
  if (texts.length >= WIDTH) throw new Error(`${texts.length} texts, at most ${WIDTH - 1}`);
  for (const [text, id] of Object.entries(vocabulary))
    embedding[id * WIDTH + dimensionOf(text)]! += 8;
  for (const path of paths) {
    for (const [i, text] of path.slice(1).entries())
      head[vocabulary[text]! * WIDTH + dimensionOf(path[i]!)] = LIKELY / NORMED;
  }
  await writeCheckpoint(
    folder,
    { config: shape, weights: flatten(shape, named, folder) },
    { dtype: "F32", tokenizerFrom: folder },
  );
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  await writeFile(
    join(folder, "tokenizer_config.json"),
    JSON.stringify({ ...(config as object), chat_template: chatTemplate }),
  );
  return folder;
}
