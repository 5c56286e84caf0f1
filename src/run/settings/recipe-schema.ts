import { z } from "../../base/schema.ts";

/** Sizes of one recipe: seconds, minutes on two cores, the paper's own. */
export const TIERS = ["smoke", "mini", "paper"] as const;

export type Tier = (typeof TIERS)[number];

const settings = z.record(z.string(), z.unknown());

/** A table of the paper: a value per row (system) and column (data set). */
const paperTable = z.strictObject({
  /** As the paper calls it: `table-2`. Tables that differ by model are separate entries under one id. */
  id: z.string(),
  title: z.string().optional(),
  metric: z.string(),
  /** Unit of its values; a percentage is compared as a share. */
  unit: z.enum(["share", "percent"]).default("share"),
  model: z.string().optional(),
  /** Which part of the data sets; absent where it differs by column. */
  split: z.string().optional(),
  columns: z.array(z.string()).min(1),
  /** null where the paper has no value. */
  rows: z.record(z.string(), z.array(z.number().nullable())),
});

/** Where an arm's published value stands. */
const cellAddress = z.strictObject({
  table: z.string(),
  row: z.string(),
  column: z.string(),
  model: z.string().optional(),
});

const arm = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, "expected lower-case letters, digits and hyphens"),
  /** Settings by dotted key that make this arm. */
  set: settings.default({}),
  /** Those at tier paper in place of `set`, where they are others: another dataset's. */
  paperSet: settings.optional(),
  /** Another random stream with the same settings: the seed is this many thousands higher. For equal arms. */
  replicate: z.int().min(0).default(0),
  paperCell: cellAddress.optional(),
});

const claim = z.strictObject({
  id: z.string(),
  statement: z.string(),
  /** positive-control: an effect that must be found, else the miniature cannot show the other claims. equal-arms: one method twice, which must not differ. */
  role: z.enum(["claim", "positive-control", "equal-arms"]).default("claim"),
  metric: z.string(),
  /** The metric at tier paper, where it is another one: `eval.average.em`, the mean over the paper's sets. */
  paperMetric: z.string().optional(),
  /** Arms in the claimed order, and numbers: `search > no-search > rag`, `search >= 0.8`. */
  relation: z.string(),
  arms: z.array(arm).min(1),
  /** What decides it: the method, or the world, an untrained control or the base; when absent, the arms' settings tell. */
  kind: z.enum(["method", "construction"]).optional(),
  /** Smallest difference that matters, in the metric's unit, and why: a smaller one is ruled out. Shares: 0.05 when absent. */
  effect: z.strictObject({ size: z.number().positive(), reason: z.string() }).optional(),
  /** Where the paper claims it: section, table. */
  source: z.string(),
  /** Metrics of the training whose curves are shown beside the reward, such as the paper argues with: `rollout/searches`. */
  curves: z.array(z.string()).optional(),
});

const ofTiers = z.strictObject({
  smoke: settings.nullable().optional(),
  mini: settings.nullable().optional(),
  paper: settings.nullable().optional(),
});

const range = z
  .tuple([z.number(), z.number()])
  .refine(([least, most]) => least < most, {
    message: "expected the lower bound first: [0.05, 0.3]",
  });

/** What the control must show before and after training, so that methods can differ. The control has the settings of `claims.base` alone. */
const calibration = z.strictObject({
  /** Settings of the control, by dotted key, where it is not `claims.base` alone. */
  set: settings.default({}),
  /** Those at tier paper in place of `set`. */
  paperSet: settings.optional(),
  /** A metric of the evaluation, without `eval.before`: `em`. */
  metric: z.string(),
  start: range,
  end: range,
});

const claims = z.strictObject({
  /** Settings by tier with which all arms run, over those of the tier and under an arm's `set`. */
  base: ofTiers.default({}),
  calibration: calibration.optional(),
  tests: z.array(claim).default([]),
});

/** The structure of `recipes/<name>.yaml`; what `base` and `tiers` hold is checked by the parts they name. */
export const recipeSchema = z.strictObject({
  /** The recipe's name where its file has another one: `recipe.resolved.yaml` of a run. */
  name: z.string().optional(),
  summary: z.string(),
  /** Kind of system, by which the atlas groups: `search-agents`. */
  family: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, "expected lower-case letters, digits and hyphens")
    .optional(),
  /** Files and npm packages with parts of the user's own (docs/extend.md); a path starts from the recipe's folder. */
  plugins: z.array(z.string()).default([]),
  paper: z
    .strictObject({
      /** arXiv number, or another lasting identifier. */
      id: z.string(),
      title: z.string(),
      /** Repository of the authors' code. */
      code: z.string().optional(),
      year: z.int().optional(),
    })
    .optional(),
  /** Where the paper and its code disagree and which one is followed; what is done differently. */
  notes: z.array(z.string()).default([]),
  /** What the tier `paper` has otherwise than the paper: everything below a key, what the paper has, and why. */
  differs: z
    .array(z.strictObject({ key: z.string(), paper: z.string().optional(), why: z.string() }))
    .default([]),
  /**
   * A recipe whose base, tiers and `claims.base` lie below this one's: a shipped recipe's name, or a path from this file's folder. Then
   * base may be absent, and without tiers the recipe has those of the other.
   */
  extends: z.string().optional(),
  base: settings,
  tiers: ofTiers,
  paperTables: z.array(paperTable).default([]),
  claims: claims.prefault({}),
});

/** The structure of a recipe that extends another. */
export const extendingSchema = recipeSchema.extend({
  base: settings.default({}),
  tiers: ofTiers.optional(),
});

export type RecipeContent = z.output<typeof recipeSchema>;

/** A recipe as read: its structure is checked, its settings are not yet (`resolveSettings`, `checkSettings`). */
export interface RecipeFile extends RecipeContent {
  /** Its own, or its file's without the extension. */
  name: string;
  /** The file, as messages show it. */
  path: string;
  /** The recipe that it extends. */
  below: RecipeFile | null;
  /** `recipes/a.yaml:12` for a key path of the file. */
  place(keys: readonly string[]): string;
}
export type PaperTable = z.output<typeof paperTable>;
export type CellAddress = z.output<typeof cellAddress>;
export type Claim = z.output<typeof claim>;
export type Arm = Claim["arms"][number];
