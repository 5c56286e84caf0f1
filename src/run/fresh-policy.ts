import { join } from "node:path";
import { writeJson } from "../base/files.ts";
import { flatten, writeCheckpoint } from "../models/checkpoint.ts";
import { type DecoderConfig, plainFeatures } from "../models/config.ts";
import { initialWeights } from "../models/initialise.ts";
import { noneRetriever } from "../retrieval/controls/none.ts";
import { TEACHER_TEXTS } from "../synth/teachers/brief-plan.ts";
import { makeTokenizer } from "../text/tokenizer.ts";
import { wordTokenizer } from "../text/word-tokenizer.ts";
import { environments } from "../worlds/datasets.ts";
import type { Settings } from "./settings/settings-schema.ts";
import { sharedVocabulary } from "./vocabulary.ts";

/**
 * Writes a folder with fresh weights and a tokenizer that knows the tiny world's words, the tags and the protocol's own texts.
 * @returns the configuration.
 */
export async function writeFreshPolicy(
  folder: string,
  shape: FreshShape,
  { seed, environment }: Pick<Settings, "seed" | "environment">,
): Promise<DecoderConfig> {
  const config = freshConfig(shape, environment);
  const files = freshTokenizer(environment);
  await writeJson(join(folder, "tokenizer.json"), files.tokenizer);
  await writeJson(join(folder, "tokenizer_config.json"), files.config);
  const tensors = new Map(initialWeights(config, seed).map((tensor) => [tensor.name, tensor]));
  const weights = flatten(config, tensors, folder);
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  return config;
}

type FreshShape = NonNullable<Settings["policy"]["fresh"]>;

/** The configuration of fresh weights, of which nothing is written. */
export function freshConfig(
  shape: FreshShape,
  environment: Settings["environment"],
): DecoderConfig {
  const { tokenizer, config } = freshTokenizer(environment);
  const { vocabSize } = makeTokenizer(tokenizer, config, "policy.fresh");
  return {
    ...shape,
    ...plainFeatures,
    architecture: "llama",
    // A multiple of 16 keeps rows of the output matrix aligned.
    vocabSize: Math.ceil(vocabSize / 16) * 16,
    normEpsilon: 1e-5,
    ropeTheta: 10_000,
    tiedEmbeddings: true,
  };
}

/** A tokenizer of the shared vocabulary, and of the environment's own tags, words and texts. */
export function freshTokenizer(
  environment?: Settings["environment"],
): ReturnType<typeof wordTokenizer> {
  const { name, ...options } = environment ?? { name: "search-qa" };
  const part = environments.get(name, "environment");
  const { protocol } = part.create(part.options.parse(options), { retriever: noneRetriever() });
  const shared = sharedVocabulary();
  const tags = protocol.tags.flatMap(({ opening, closing }) => [opening, closing]);
  const texts = [...TEACHER_TEXTS, protocol.renderProblems([])];
  const written = texts.flatMap((text) => text.match(/ ?\p{L}+|[^\s\p{L}]/gu) ?? []);
  return wordTokenizer({
    specials: ["<|end|>", "<|pad|>", ...new Set([...shared.specials, ...tags])],
    words: [...new Set([...shared.words, ...written, ...(part.words ?? [])])],
  });
}
