import { z } from "../../base/schema.ts";
import { TINY_WORLD_SPLITS } from "./permutation.ts";
import { RELATIONS } from "./relations.ts";

/** Weights of the kinds of question; any sum. */
export interface TinyWorldMix {
  bridge1: number;
  bridge2: number;
  bridge3: number;
  bridge4: number;
  bridge5: number;
  bridge6: number;
  comparison: number;
  yesNo: number;
  intersect: number;
  compareChains: number;
}

/** Few questions with two possible answers, which a guess can score; no chains beyond three, no rare shapes. */
export const DEFAULT_MIX: Readonly<TinyWorldMix> = {
  bridge1: 0.3,
  bridge2: 0.4,
  bridge3: 0.24,
  bridge4: 0,
  bridge5: 0,
  bridge6: 0,
  comparison: 0.03,
  yesNo: 0.03,
  intersect: 0,
  compareChains: 0,
};

/** Which facts share a passage: all of an entity (in one store), or none. */
export const PAGINGS = ["entity", "fact"] as const;

const weight = z.number().min(0);

/** Increases with every change of a byte of any world; part of a result's fingerprint. */
export const TINY_WORLD_VERSION = 2;

/** Schema of a mix of questions. */
export const mixSchema = z.strictObject({
  bridge1: weight.default(DEFAULT_MIX.bridge1),
  bridge2: weight.default(DEFAULT_MIX.bridge2),
  bridge3: weight.default(DEFAULT_MIX.bridge3),
  bridge4: weight.default(DEFAULT_MIX.bridge4),
  bridge5: weight.default(DEFAULT_MIX.bridge5),
  bridge6: weight.default(DEFAULT_MIX.bridge6),
  comparison: weight.default(DEFAULT_MIX.comparison),
  yesNo: weight.default(DEFAULT_MIX.yesNo),
  intersect: weight.default(DEFAULT_MIX.intersect),
  compareChains: weight.default(DEFAULT_MIX.compareChains),
});

const share = z.number().min(0).max(1).default(0);

/** Settings of a world. */
export const tinyWorldSchema = z.strictObject({
  seed: z.int().default(7),
  split: z.enum(TINY_WORLD_SPLITS).default("train"),
  people: z.int().min(2).max(1_000_000).default(1000),
  /** Facts of a passage: all of an entity, or one; with one, a search needs a word of its statement. */
  passages: z.enum(PAGINGS).default("entity"),
  /** Ways in which a relation is stated. */
  wordings: z.int().min(1).max(3).default(3),
  /** Share of people, works and events that share their name with another, which a noun tells apart. */
  namesakes: share,
  /** Share of entities with a second name, which questions use; a passage of its own states it. */
  aliases: share,
  /** Sentences without a fact in each passage; they name other entities. */
  filler: z.int().min(0).max(60).default(0),
  /** Share of facts that no passage states. */
  missing: share,
  /** Share of facts about which a passage of a less reliable source says something wrong. */
  contradicted: share,
  /** Number of stores; each fact is in one, by its relation, in the store's own style. */
  sources: z.int().min(1).max(3).default(1),
});

const relationNames = z.array(z.enum(RELATIONS.map(({ name }) => name))).default([]);

/** Settings of the questions drawn from a world. */
export const tinyQuestionShape = {
  mix: mixSchema.prefault({}),
  /** Share of the chains that no passage answers: their reference is "unknown". It needs `missing`. */
  unanswerable: share,
  /** Last (or compared) relations of the questions; empty: all. */
  relations: relationNames,
  /** Relations that no question uses. */
  exclude: relationNames,
};

/** Settings of a world. */
export type TinyWorldSettings = z.input<typeof tinyWorldSchema>;

/** Options of the dataset. */
export const tinyDatasetOptions = tinyWorldSchema
  .extend({
    /** Number of questions. */
    questions: z.int().min(1).default(500),
    ...tinyQuestionShape,
    /** Passages in each question's context; 0: none. */
    distractors: z.int().min(0).max(100).default(0),
    /** Numbers of the questions; default: 0 to `questions` - 1. */
    rows: z.array(z.int().min(0)).min(1).optional(),
    /** Share of the questions about one fixed small world, which a policy can know by heart; its passages are added. */
    known: share,
    /** Share of the questions that repeat an earlier one. */
    duplicates: share,
    /** Share of the questions whose reference is wrong; the annotations stay true. */
    mislabelled: share,
  })
  .refine(
    // Names of the known world may stand for other entities in another world of its split.
    ({ known, split }) => known === 0 || split !== "base",
    'expected split "train", "dev" or "test" where known is above 0: the world known by heart is of split "base"',
  );

export type TinyDatasetSettings = z.output<typeof tinyDatasetOptions>;
