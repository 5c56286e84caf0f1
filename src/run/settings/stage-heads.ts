import { type Part, registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";

/** What settings, the driver and messages must know of a stage. */
export interface StageHead extends Part {
  /** Options of its entry in `stages`, under `with`. */
  readonly options: z.ZodObject;
  /** Block of the recipe that no other kind of stage reads, such as `sft`. */
  readonly block?: string;
  /** The setting that names the draws it learns from. */
  readonly dataKey?: string;
  /** What later stages may take from its folder. */
  readonly makes: "policy" | "draws" | "index" | null;
  /** Who decides whether what a folder holds of it may be continued: the driver compares settings, or the stage its own hashes. */
  readonly resumesBy: "settings" | "itself";
}

const plain = {
  part: "stage",
  options: z.strictObject({}),
  makes: null,
  resumesBy: "settings",
} as const;

/** The stages of the package; stages/shipped.ts says how each runs. */
export const heads = {
  index: {
    ...plain,
    name: "index",
    summary: "builds an index folder of the dataset's passages, {NAME}/index for later stages",
    makes: "index",
  },
  synth: {
    ...plain,
    name: "synth",
    summary: "draws trajectories of a teacher and selects samples from them",
    block: "synth",
    makes: "draws",
    resumesBy: "itself",
    options: z.strictObject({
      keepDropped: z.boolean().optional(),
      allowErrors: z.number().min(0).optional(),
    }),
  },
  select: {
    ...plain,
    name: "select",
    summary: "selects samples once more from the draws of an earlier stage, by other steps",
    block: "synth",
    makes: "draws",
    options: z.strictObject({ keepDropped: z.boolean().optional() }),
  },
  sft: {
    ...plain,
    name: "sft",
    summary: "fine-tunes a policy on samples, or with a curriculum on a teacher's trajectories",
    block: "sft",
    dataKey: "sft.data",
    makes: "policy",
  },
  preference: {
    ...plain,
    name: "preference",
    summary: "trains a policy on pairs of better and worse trajectories",
    block: "preference",
    dataKey: "preference.data",
    makes: "policy",
  },
  train: {
    ...plain,
    name: "train",
    summary: "trains a policy by reinforcement on its own rollouts",
    block: "algorithm",
    makes: "policy",
  },
  evaluate: {
    ...plain,
    name: "evaluate",
    summary: "answers the held-out questions and measures the answers",
    resumesBy: "itself",
    options: z.strictObject({
      index: z.string().optional(),
      limit: z.int().min(1).optional(),
      shuffle: z.int().optional(),
    }),
  },
} satisfies Record<string, StageHead>;

/** What a recipe's `stages` may do. */
export const stageHeads = registry<StageHead>("stage", Object.values(heads));
