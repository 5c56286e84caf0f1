import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";

/** The files of a tokenizer in Hugging Face layout, parsed. */
export interface TokenizerFiles {
  tokenizer: unknown;
  /** `tokenizer_config.json` */
  config: unknown;
  /** `special_tokens_map.json`: special tokens that are not in `tokenizer_config.json`. */
  specialTokens?: unknown;
  /** `generation_config.json`: ids that end a completion. */
  generation?: unknown;
}

/** Reads a folder's tokenizer files. @throws {DataError} FILE_MISSING without a tokenizer.json; FILE_NOT_JSON */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const optional = async (name: string): Promise<unknown> => {
    const path = join(folder, name);
    return existsSync(path) ? readJson(path) : {};
  };
  return {
    tokenizer: await readJson(join(folder, "tokenizer.json")),
    config: await optional("tokenizer_config.json"),
    specialTokens: await optional("special_tokens_map.json"),
    generation: await optional("generation_config.json"),
  };
}

const tokenText = z.union([
  z.string(),
  z.looseObject({ content: z.string() }).transform(({ content }) => content),
]);

/** Keys of special tokens in both files and in chat templates. */
const SPECIAL_TOKENS = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token"] as const;
export type SpecialToken = (typeof SPECIAL_TOKENS)[number];

const named = z.looseObject(
  Object.fromEntries(SPECIAL_TOKENS.map((name) => [name, tokenText.nullish()])) as Record<
    SpecialToken,
    z.ZodOptional<z.ZodNullable<typeof tokenText>>
  >,
);

const addedToken = z.looseObject({ id: z.int().min(0), content: z.string() });
type AddedToken = z.output<typeof addedToken>;

const configSchema = z.looseObject({
  ...named.shape,
  add_bos_token: z.boolean().nullish(),
  added_tokens_decoder: z.record(z.string(), z.looseObject({ content: z.string() })).nullish(),
});

const tokenizerSchema = z.looseObject({
  added_tokens: z.array(addedToken).nullish(),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  post_processor: z.unknown(),
  decoder: z.unknown(),
  model: z.looseObject({}),
});

const generationSchema = z.looseObject({
  eos_token_id: z
    .union([
      z
        .int()
        .min(0)
        .transform((id) => [id]),
      z.array(z.int().min(0)),
    ])
    .nullish(),
});

/** The checked keys of `tokenizer.json`; the library reads the others. */
export interface TokenizerJson {
  added_tokens: AddedToken[];
  normalizer?: unknown;
  pre_tokenizer?: unknown;
  post_processor?: unknown;
  decoder?: unknown;
  model?: unknown;
}

/** The checked and merged content of the files. */
export interface TokenizerFacts {
  /** Includes tokens that only `tokenizer_config.json` adds. */
  json: TokenizerJson;
  config: z.output<typeof configSchema>;
  specialTokens: Partial<Record<SpecialToken, string>>;
  /** From `generation_config.json`. */
  endIds: readonly number[];
}

/**
 * Checks and merges the files. `tokenizer_config.json` overrides the special tokens of `special_tokens_map.json`.
 * @throws {DataError} TOKENIZER_BAD naming the file and key.
 */
export function tokenizerFacts(files: TokenizerFiles, where: string): TokenizerFacts {
  const parsed = <S extends z.ZodType>(schema: S, value: unknown, file: string): z.output<S> => {
    const checked = checkOptions(schema, value);
    if (checked.problem === null) return checked.value;
    const { path, message } = checked.problem;
    throw new DataError(
      "TOKENIZER_BAD",
      `${where}: cannot be read as a tokenizer (${[file, ...path].join(": ")} ${message}).`,
    );
  };
  const json = parsed(tokenizerSchema, files.tokenizer, "tokenizer.json");
  const config = parsed(configSchema, files.config, "tokenizer_config.json");
  const map = parsed(named, files.specialTokens ?? {}, "special_tokens_map.json");
  const generation = parsed(generationSchema, files.generation ?? {}, "generation_config.json");
  const specialTokens: TokenizerFacts["specialTokens"] = {};
  for (const name of SPECIAL_TOKENS) {
    const content = config[name] ?? map[name];
    if (content !== undefined && content !== null) specialTokens[name] = content;
  }
  return {
    json: { ...json, added_tokens: mergedTokens(json.added_tokens ?? [], config) },
    config,
    specialTokens,
    endIds: generation.eos_token_id ?? [],
  };
}

function mergedTokens(
  own: readonly AddedToken[],
  { added_tokens_decoder: further }: TokenizerFacts["config"],
): AddedToken[] {
  const known = new Set(own.map(({ id }) => id));
  const missing = Object.entries(further ?? {}).filter(([id]) => !known.has(Number(id)));
  return [...own, ...missing.map(([id, token]) => ({ ...token, id: Number(id) }))];
}
