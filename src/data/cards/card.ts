import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { packageRoot } from "../../base/package-root.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { parseYaml } from "../../base/yaml.ts";
import { corpusLayouts, taskLayouts } from "../layouts/index.ts";
import { type CardKind, cardFolders, cardNames } from "./card-names.ts";

const NAME = /^[a-z0-9][a-z0-9-]*$/;

const fileSchema = z.strictObject({
  /** `https://…`, or `hub:OWNER/NAME[@REVISION]/FILE` for a dataset on the hub. */
  url: z
    .string()
    .regex(/^(https?:\/\/|hub:[\w.-]+\/[\w.-]+(@[\w.-]+)?\/.)/, {
      error: "expected http://…, https://… or hub:OWNER/NAME[@REVISION]/FILE",
    }),
  /** The end of the file's path within the archive (.zip, .tar.gz) at `url`. */
  member: z.string().optional(),
  /** Layout of the file. */
  layout: z.enum([...new Set([...taskLayouts.names, ...corpusLayouts.names])]),
  /** Published number of questions or passages, checked after a download. */
  records: z.int().min(1),
  /** Published checksum of the file at `url`, if any. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: "expected 64 hexadecimal digits" })
    .optional(),
});

const sourceSchema = z.strictObject({
  about: z.string(),
  splits: z.record(z.string().regex(NAME), fileSchema),
});

const cardSchema = z.strictObject({
  summary: z.string(),
  /** Its use. */
  for: z.string(),
  homepage: z.url(),
  paper: z.url(),
  license: z.string(),
  /** False: a test set that must stay out of training. */
  trainable: z.boolean().default(true),
  defaultSplit: z.string(),
  /** Whether each question has its own passages. */
  passages: z.enum(["contexts", "none"]),
  /** Card of a corpus for questions without passages. */
  corpus: z.string().optional(),
  note: z.string().optional(),
  /** The first source is the default. */
  sources: z.record(z.string().regex(NAME), sourceSchema),
});

/** One file of a dataset. */
export type CardFile = z.output<typeof fileSchema>;

/** The card of a dataset: `datasets/<name>.yaml`; of a corpus: `datasets/corpora/<name>.yaml`. */
export interface Card extends z.output<typeof cardSchema> {
  /** File name without extension. */
  name: string;
  kind: CardKind;
}

/** All cards: datasets, then corpora. @throws as `readCard`. */
export function allCards(): Card[] {
  return [...cardNames("questions"), ...cardNames("corpus")].map((name) => readCard(name));
}

/**
 * Reads a dataset's card.
 * @param where the flag or argument with the name, for messages.
 * @throws {ConfigError} PART_UNKNOWN with the nearest name; as `parseCard`.
 */
export function readCard(name: string, where = "dataset"): Card {
  const kinds: readonly CardKind[] = ["questions", "corpus"];
  const kind = kinds.find((each) => cardNames(each).includes(name));
  if (kind === undefined) {
    const known = kinds.flatMap(cardNames);
    throw new ConfigError(
      "PART_UNKNOWN",
      `${where} is "${name}"; no such dataset. ${suggest(name, known)}`,
    );
  }
  const path = join(cardFolders[kind], `${name}.yaml`);
  const text = readFileSync(path, "utf8");
  return { ...parseCard(text, name, relative(packageRoot, path)), kind };
}

/**
 * Parses a card of questions.
 * @param path for messages.
 * @throws {ConfigError} RECIPE_NOT_YAML, RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE, each with file:line.
 */
export function parseCard(text: string, name: string, path: string): Card {
  const yaml = parseYaml(text, path);
  const result = checkOptions(cardSchema, yaml.value);
  if (result.problem !== null) {
    const { code, path: keys, message } = result.problem;
    throw new ConfigError(code, `${path}:${yaml.lineOf(keys)}: ${keys.join(".")} ${message}`);
  }
  const card: Card = { name, kind: "questions", ...result.value };
  const { splits } = defaultSource(card, path).source;
  if (!(card.defaultSplit in splits))
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${path}:${yaml.lineOf(["defaultSplit"])}: defaultSplit is "${card.defaultSplit}"; the first source has no such split. ${suggest(card.defaultSplit, Object.keys(splits))}`,
    );
  return card;
}

export interface NamedSource {
  name: string;
  source: z.output<typeof sourceSchema>;
}

function defaultSource(card: Card, path: string): NamedSource {
  const [first] = Object.entries(card.sources);
  if (first === undefined)
    throw new ConfigError("RECIPE_BAD_VALUE", `${path}: sources is empty; one is required.`);
  return { name: first[0], source: first[1] };
}

/**
 * The source with this name, or the first one.
 * @throws {ConfigError} PART_UNKNOWN with the known names.
 */
export function sourceOf(card: Card, asked: string | undefined, where: string): NamedSource {
  if (asked === undefined) return defaultSource(card, card.name);
  const source = card.sources[asked];
  if (source !== undefined) return { name: asked, source };
  throw new ConfigError(
    "PART_UNKNOWN",
    `${where} is "${asked}"; ${card.name} has no such source. ${suggest(asked, Object.keys(card.sources))}`,
  );
}

/**
 * The file of a split, or of the default split.
 * @throws {ConfigError} PART_UNKNOWN with the known splits.
 */
export function splitOf(
  card: Card,
  { name, source }: NamedSource,
  asked: string | undefined,
  where: string,
): { split: string; file: CardFile } {
  const split = asked ?? card.defaultSplit;
  const file = source.splits[split];
  if (file !== undefined) return { split, file };
  throw new ConfigError(
    "PART_UNKNOWN",
    `${where} is "${split}"; ${card.name} has no such split in its source ${name}. ${suggest(split, Object.keys(source.splits))}`,
  );
}
