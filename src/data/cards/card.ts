import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { packageRoot } from "../../base/package-root.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { parseYaml } from "../../base/yaml.ts";
import { corpusLayouts, taskLayouts } from "../layouts/index.ts";

const NAME = /^[a-z0-9][a-z0-9-]*$/;

const fileSchema = z.strictObject({
  /** `https://…`, or `hub:OWNER/NAME/FILE` of a dataset on the hub, `@REVISION` behind its name. */
  url: z.string().regex(/^(https?:\/\/|hub:[\w.-]+\/[\w.-]+(@[\w.-]+)?\/.)/, {
    error: "expected http://…, https://… or hub:OWNER/NAME[@REVISION]/FILE",
  }),
  /** The file within the archive (.zip, .tar.gz) that `url` is: the end of its path. */
  member: z.string().optional(),
  /** What it is written in. */
  layout: z.enum([...new Set([...taskLayouts.names, ...corpusLayouts.names])]),
  /** Published number of questions or passages; downloads are held against it. */
  records: z.int().min(1),
  /** Of what `url` gives, where somebody published it. */
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
  /** What it is used for. */
  for: z.string(),
  homepage: z.url(),
  paper: z.url(),
  license: z.string(),
  kind: z.enum(["questions", "corpus"]).default("questions"),
  /** False: a test set that must stay out of training. */
  trainable: z.boolean().default(true),
  defaultSplit: z.string(),
  /** Whether each question has passages of its own. */
  passages: z.enum(["contexts", "none"]),
  /** The card of a corpus that answers questions without passages. */
  corpus: z.string().optional(),
  note: z.string().optional(),
  /** The first is the default. */
  sources: z.record(z.string().regex(NAME), sourceSchema),
});

/** One file of a dataset. */
export type CardFile = z.output<typeof fileSchema>;

/** What is known of a dataset: `datasets/<name>.yaml`. */
export interface Card extends z.output<typeof cardSchema> {
  /** File name without extension. */
  name: string;
}

const folder = join(packageRoot, "datasets");

/** Names of the datasets that have a card, sorted. */
export function cardNames(): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();
}

/**
 * Reads a dataset's card.
 * @throws {ConfigError} PART_UNKNOWN with the nearest name; as `parseCard`.
 */
export function readCard(name: string, where = "dataset"): Card {
  if (!cardNames().includes(name)) {
    throw new ConfigError(
      "PART_UNKNOWN",
      `${where} is "${name}"; no such dataset. ${suggest(name, cardNames())}`,
    );
  }
  const path = join(folder, `${name}.yaml`);
  return parseCard(readFileSync(path, "utf8"), name, relative(packageRoot, path));
}

/**
 * A card of text that is at hand.
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
  const card = { name, ...result.value };
  const { splits } = defaultSource(card, path).source;
  if (!(card.defaultSplit in splits)) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${path}:${yaml.lineOf(["defaultSplit"])}: defaultSplit is "${card.defaultSplit}"; the first source has no such split. ${suggest(card.defaultSplit, Object.keys(splits))}`,
    );
  }
  return card;
}

/** A source of a card under its name. */
export interface NamedSource {
  name: string;
  source: z.output<typeof sourceSchema>;
}

function defaultSource(card: Card, path: string): NamedSource {
  const [first] = Object.entries(card.sources);
  if (first === undefined) {
    throw new ConfigError("RECIPE_BAD_VALUE", `${path}: sources is empty; one is needed.`);
  }
  return { name: first[0], source: first[1] };
}

/**
 * The source of a card that is asked for, or the first.
 * @throws {ConfigError} PART_UNKNOWN with the names that there are.
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
 * The file of a split, or of the default one.
 * @throws {ConfigError} PART_UNKNOWN with the splits that there are.
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
