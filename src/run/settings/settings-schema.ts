import { algorithms, unwrittenField } from "../../algorithms/index.ts";
import type { PreferenceSettings } from "../../algorithms/preference.ts";
import { onDemand, partSchema } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { deferred } from "../../base/registry.ts";
import { scheduled } from "../../base/schedule.ts";
import { choice, z } from "../../base/schema.ts";
import {
  type SettingEffect,
  affects,
  declaredEffect,
  ignoredWhen,
  isSet,
  when,
} from "../../base/setting-effect.ts";
import { isModel, isPath } from "../../base/setting-path.ts";
import { deadlinesSchema } from "../../base/waits/deadlines.ts";
import { samplingWeightTypes, storageDtypes } from "../../engine/local/storage-dtypes.ts";
import { dialectNames } from "../../engine/tinker/dialect.ts";
import { budgetsSchema } from "../../env/budget.ts";
import { metrics } from "../../evaluate/metrics/own-metrics.ts";
import { serverAddress } from "../../http/http-options.ts";
import { targetModules } from "../../models/lora/target-modules.ts";
import { deviceNames } from "../../onnx/device-names.ts";
import { retrieverSchema } from "../../retrieval/index.ts";
import { rewards } from "../../rewards/index.ts";
import {
  type EndpointSettings,
  type ModelsSettings,
  chatSchema,
} from "../../rollout/model-settings.ts";
import { samplingSchema } from "../../rollout/sampling.ts";
import { strategies } from "../../rollout/strategies/index.ts";
import { type NamedStrategy, openStrategy } from "../../rollout/strategies/named-strategy.ts";
import type { SynthSettings } from "../../synth/synth-settings.ts";
import { alarmsSchema } from "../../watch/alarms/alarm-settings.ts";
import { reportersSchema } from "../../watch/reporters/index.ts";
import { DEFAULT_DATASET, datasets, environments } from "../../worlds/datasets.ts";
import { unknownNames } from "./named-things.ts";
import { checkpointsSchema, rollbackSchema } from "./run-settings.ts";
import type { SftSettings } from "./sft-settings.ts";
import { stagesSchema } from "./stages.ts";

// What few recipes have is loaded where a recipe has it.
const endpointSchema = onDemand<EndpointSettings>(
  async () => (await import("../../rollout/model-settings.ts")).endpointSchema,
);
const modelsSchema = onDemand<ModelsSettings>(
  async () => (await import("../../rollout/model-settings.ts")).modelsSchema,
);
const synthSchema = onDemand<SynthSettings>(
  async () => (await import("../../synth/synth-settings.ts")).synthSchema,
);
const sftSchema = onDemand<SftSettings>(async () => (await import("./sft-settings.ts")).sftSchema);
const preferenceSchema = onDemand<PreferenceSettings>(
  async () => (await import("../../algorithms/preference.ts")).preferenceSchema,
);
const rewardExpressions = deferred(() => import("../../rewards/expression/expression.ts"));

/** A decoder that does not exist yet. Its vocabulary is that of the tiny world and of what teachers write. */
const freshPolicy = z.strictObject({
  hiddenSize: z.int().positive(),
  layers: z.int().positive(),
  heads: z.int().positive(),
  kvHeads: z.int().positive(),
  /** Even: rotary positions turn pairs. */
  headDim: z.int().positive().multipleOf(2),
  intermediateSize: z.int().positive(),
  maxPositions: z.int().positive(),
});

/** Adapters that do not exist yet; docs/models.md. */
const adapters = z.strictObject({
  rank: z.int().min(1).default(16),
  /** What the adapters add is multiplied by alpha / rank. */
  alpha: z.number().positive().default(32),
  /** Instead by alpha / √rank. */
  rslora: z.boolean().default(false),
  targets: z
    .array(z.enum(targetModules))
    .min(1)
    .default([...targetModules]),
});

const environment = choice((value) => {
  const given = typeof value === "object" && value !== null ? value : {};
  if (!("budgets" in given)) return { schema: partSchema(environments), value };
  const message =
    "has the key budgets, which moved to the top of the recipe: write budgets beside environment.";
  return { problem: { code: "RECIPE_UNKNOWN_KEY", message } };
});

/** Options of one engine have no effect with the other. */
const ofLocal = ignoredWhen({ name: "tinker" }, "The server has its own settings; remove it");
const ofServer = ignoredWhen({ name: "local" }, "Set engine.name: tinker, or remove it");

/** A name that a reward expression can hold. */
const rewardAlias = z
  .string()
  .regex(/^[A-Za-z_]\w*(-\w+)*$/, "expected a name of letters, digits, _ and -");

/** Part of metric paths (`eval.sets.transfer.after.em`), and a folder's name. */
const setName = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, "expected lower-case letters, digits and hyphens");

const neverSearches = when(
  "does not search",
  (strategy) => !openStrategy(strategy as NamedStrategy, "strategy").searches,
);

/** A further evaluation of the same policy, as it is once laid over the run's own (`withFullSets`). */
const evaluationSet = z
  .strictObject({
    dataset: partSchema(datasets),
    retriever: retrieverSchema,
    strategy: partSchema(strategies),
    sampling: samplingSchema,
    budgets: budgetsSchema,
    samplesPerTask: z.int().min(1),
    environment,
    models: modelsSchema,
  })
  .partial()
  .refine((set) => Object.keys(set).length > 0, {
    message: "expected at least one setting that differs, e.g. { dataset: { split: dev } }",
  });

/** What `base` and `tiers` of a recipe may hold: each key is owned by one part's own schema. */
const settingsShape = z.strictObject({
  /** Everything random derives from it. */
  seed: z.int().min(0).default(0),
  policy: z
    .strictObject({
      /**
       * A Hugging Face folder, a GGUF file, a model of the hub (`org/name`, `org/name@revision`), a model by name (`smollm2-135m`), or a
       * policy that comes with the package: `base`, `literate`, or a base of recipes/bases, which is made on its first use.
       */
      from: z.string().default("base").meta(isModel()),
      /** Instead: fresh weights of this shape. */
      fresh: freshPolicy
        .optional()
        .meta(ignoredWhen({ algorithm: isSet }, "Only agentrl sft starts from fresh weights")),
      /** Trains low-rank adapters over the policy, which stays as it is. */
      lora: adapters.optional(),
      /** Asks the policy through the chat template of its folder; without it all text is put to it as it is. */
      chat: chatSchema.optional(),
      /** Alternative to `from`, evaluation only: a model behind an OpenAI-compatible server. */
      endpoint: endpointSchema.optional(),
      /** Instead, for evaluations: a file of answers that were given elsewhere, by the questions' ids. */
      predictions: z
        .strictObject({
          file: z.string().meta(isPath()),
          answerField: z.string().default("prediction"),
          idField: z.string().default("id"),
        })
        .optional(),
    })
    .prefault({}),
  /** Questions to train on, and their corpus. */
  dataset: partSchema(datasets).prefault(DEFAULT_DATASET),
  /** What searches answer from; over the dataset's own passages unless it names another corpus. */
  retriever: retrieverSchema
    .prefault("bm25")
    .meta(ignoredWhen({ strategy: neverSearches, "evaluation.strategy": neverSearches })),
  /** Further retrievers by name, for tools that name one (`{ name: corpus-search, as: news-search, retriever: news }`). */
  retrievers: z.record(z.string(), retrieverSchema).optional(),
  /** What the policy acts in, with its protocol and tools. */
  environment: environment.prefault("search-qa"),
  /** Limits on what a trajectory may use. */
  budgets: budgetsSchema.default([]),
  /** How the policy meets the environment in training. */
  strategy: partSchema(strategies).prefault("agent"),
  /** What trajectories are scored by; docs/rewards.md. Every number among the options may be a schedule. */
  rewards: z
    .array(
      partSchema(
        rewards,
        {
          /** Its share in the sum; 0 only records it. Default: 1, and 0 beside `reward`, to whose value it is added. */
          weight: scheduled(z.number()).optional(),
          /** Its name in `reward` and in metrics, where its own would be unclear. */
          as: rewardAlias.optional(),
          /** Scored only where `reward` reads it: `em or judge` asks the judge about what em rejects. Evaluations score it always. */
          lazy: z.boolean().optional(),
        },
        { scheduled: true },
      ),
    )
    .min(1)
    .prefault(["exact-match"]),
  /** How the rewards become one number: `em + 0.2 * (format and not em)`; their weighted sum when absent. Rewards with a weight are added. */
  reward: z.string().optional(),
  /** Models beside the policy, by the name that rewards, tools and strategies ask for. */
  models: modelsSchema.optional(),
  /** Tests the rewards on known answers before training (`agentrl reward check`), and stops where one fails. */
  rewardCheck: z.boolean().default(true).meta(affects("bookkeeping")),
  /** How `agentrl train` learns from rollouts. */
  algorithm: partSchema(algorithms, {}, { scheduled: true }).optional(),
  sampling: samplingSchema.prefault({}),
  /** Several things done in order, for `agentrl train`: draws, supervised fine-tuning, preferences, reinforcement. */
  stages: stagesSchema.optional(),
  /** Trajectories of a teacher to learn from, for `agentrl synth-data`. */
  synth: synthSchema.optional(),
  /** Supervised fine-tuning on the samples of a file, or with a curriculum on a teacher's trajectories; for `agentrl sft`. */
  sft: sftSchema.optional(),
  /** Training on pairs of better and worse trajectories; for `agentrl dpo`. */
  preference: preferenceSchema.optional(),
  /** Before and after training: questions of worlds that share no entity with the training ones. */
  evaluation: z
    .strictObject({
      dataset: partSchema(datasets).prefault({ name: DEFAULT_DATASET, split: "test" }),
      /** What searches answer from here; as in training when absent. */
      retriever: retrieverSchema.optional().meta(ignoredWhen({ strategy: neverSearches })),
      strategy: partSchema(strategies).prefault("agent"),
      sampling: samplingSchema.prefault({ temperature: 0 }),
      /** As in training when absent. */
      budgets: budgetsSchema.optional(),
      /** `metric` parts, by name or by `as`, computed beside the recipe's rewards and the metrics that every evaluation has. */
      metrics: z.array(partSchema(metrics, { as: rewardAlias.optional() })).optional(),
      /** Draws per question; several give avg@k and pass@k. */
      samplesPerTask: z.int().min(1).default(1),
      /** Evaluate every `every` steps on the first `questions` questions. */
      during: z
        .strictObject({ every: z.int().min(1), questions: z.int().min(1).default(100) })
        .optional()
        .meta(affects("bookkeeping")),
      /**
       * Further evaluations of the same policy by name, before and after training. Each states only how it differs from this one and
       * from the run's `environment` and `models`.
       */
      sets: z.record(setName, evaluationSet).optional(),
    })
    .prefault({}),
  /** Deadlines of everything outside the process, and when a long wait is reported; docs/running.md. */
  deadlines: deadlinesSchema.prefault({}).meta(affects("bookkeeping")),
  engine: z
    .strictObject({
      /** `local`: this machine. `tinker`: a server of the Tinker API holds and trains the model; docs/servers.md. */
      name: z.enum(["local", "tinker"]).default("local"),
      /** The server's address, e.g. http://127.0.0.1:8000. */
      url: serverAddress.optional().meta({ ...affects("place"), ...ofServer }),
      /** The server's name of the policy; its only one when absent. */
      model: z.string().optional().meta(ofServer),
      /** Environment variable of the server's key; null: it needs none. */
      apiKeyEnv: z
        .string()
        .nullable()
        .default(null)
        .meta({ ...affects("place"), ...ofServer }),
      /** Which server it is, where it does not tell and a probe cannot find out. */
      dialect: z.enum(dialectNames).optional().meta(ofServer),
      /** Samples in place of the training server, with adapters that it loads while it runs; docs/servers.md. */
      sampler: z
        .strictObject({
          /** Address of an OpenAI-compatible server, e.g. http://127.0.0.1:8100. */
          url: serverAddress.meta(affects("place")),
          /** The server's name of the base model; its only one when absent. */
          model: z.string().optional(),
          /** Folder that the server reads at the same path; each version of the policy is written there. */
          adapters: z.string().min(1).meta(affects("place")),
          /** Environment variable of the server's key; null: it needs none. */
          apiKeyEnv: z.string().nullable().default(null).meta(affects("place")),
        })
        .optional()
        .meta(ofServer),
      /** Worker threads; every core by default. */
      workers: z
        .int()
        .min(1)
        .optional()
        .meta({ ...affects("numerics"), ...ofLocal }),
      /** Threads of each worker; a single worker uses every core by default, several one each. */
      threads: z
        .int()
        .min(1)
        .optional()
        .meta({ ...affects("numerics"), ...ofLocal }),
      /** `auto`: the processor for a small model, else a GPU where one is faster. */
      device: z
        .enum(["auto", ...deviceNames])
        .default("auto")
        .meta({ ...affects("numerics"), ...ofLocal }),
      /** Sequences that are sampled at once. */
      slots: z
        .int()
        .min(1)
        .default(32)
        .meta({ ...affects("numerics"), ...ofLocal }),
      /** Positions that go through the model at once in training: fewer need less memory. */
      microBatchTokens: z
        .int()
        .min(1)
        .default(1024)
        .meta({ ...affects("numerics"), ...ofLocal }),
      /**
       * What is computed again in the backward pass instead of being kept from the forward pass: less memory, more time. `selective`:
       * attention's scores and gated activations; `true`: each layer, of which its input alone is kept, in some 30 % more time.
       */
      recompute: z
        .union([z.boolean(), z.literal("selective")])
        .default(false)
        .meta({ ...affects("numerics"), ...ofLocal }),
      /**
       * How weights are held that nobody trains: those under adapters, and a policy that is evaluated. `float16` and `bfloat16` take half
       * the memory and are widened where they are used; `auto`: as the checkpoint stores them, which rounds nothing. docs/models.md
       */
      frozenWeights: z
        .enum(storageDtypes)
        .default("float32")
        .meta(ignoredWhen({ "policy.lora": undefined }, "Without adapters, no weight is frozen")),
      /**
       * Matrices that sampling uses on the processor. `int8`: copies of 8 bits, which are faster where the processor multiplies 8 bits
       * (AVX-512 VNNI, Arm's dot products), and draw from a slightly other policy than the trained one: `mismatch/kl` says by how much.
       * docs/models.md
       */
      samplingWeights: z.enum(samplingWeightTypes).default("float32").meta(ofLocal),
    })
    .prefault({}),
  /** Compares the budgets of a training with each other and its data, and stops where nothing could be learned. */
  budgetCheck: z.boolean().default(true).meta(affects("bookkeeping")),
  /** Checks the first batch of a training by the rules of `agentrl trace lint`, and stops at a violation. */
  batchCheck: z.boolean().default(true).meta(affects("bookkeeping")),
  checkpoints: checkpointsSchema.prefault({}).meta(affects("bookkeeping")),
  /** Programs that receive the metrics of a training while it runs; docs/running.md. */
  reporters: reportersSchema.meta(affects("bookkeeping")),
  /** Rules on the metrics of a training; docs/running.md. */
  alarms: alarmsSchema.meta(affects("rollback")),
  /** How a training continues after an alarm rolled it back to its best checkpoint. */
  rollback: rollbackSchema.prefault({}).meta(affects("rollback")),
});

export const settingsSchema = settingsShape.superRefine((settings, context) => {
  for (const { path, message } of unknownNames(settingsShape, settings))
    context.addIssue({ code: "custom", path, message, params: { code: "PART_UNKNOWN" } });
  const { reward, rewards: named, algorithm } = settings;
  if (algorithm !== undefined) {
    const names = named.map(({ name: own, as = own }) => as);
    const message = unwrittenField(algorithm, names);
    if (message !== null) context.addIssue({ code: "custom", path: ["algorithm"], message });
  }
  for (const [i, { lazy, weight }] of named.entries()) {
    if (lazy !== true) continue;
    const refuse = (message: string): void =>
      context.addIssue({ code: "custom", path: ["rewards", i, "lazy"], message });
    if (reward === undefined)
      refuse("is true, and no `reward` reads its value. Set reward, or leave lazy out");
    if (weight !== undefined && weight !== 0)
      refuse("is true, and its weight counts it everywhere. Leave one of them out");
  }
  if (reward === undefined) return;
  try {
    rewardExpressions().rewardExpression(
      reward,
      named.map(({ name, as = name }) => as),
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, message } = error;
    context.addIssue({ code: "custom", path: ["reward"], message, params: { code } });
  }
});

export type Settings = z.output<typeof settingsSchema>;

/**
 * The effect that a setting declares.
 * @param key dotted; a setting of a stage has the effect of what it sets.
 * @example effectOf("reporters.0.name") // "bookkeeping"
 */
export function effectOf(key: string): SettingEffect {
  const own = key.replace(/^stages\.\d+\.(stages\.\d+\.)?set\./, "");
  return declaredEffect(settingsSchema, own.split("."));
}
