import { existsSync } from "node:fs";
import type { Command } from "commander";
import { isServerAddress } from "../http/http-options.ts";
import { strategies } from "../rollout/strategies/index.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { Override, ResolvedSettings } from "../run/settings/settings.ts";
import type { CliContext } from "./command.ts";
import {
  FIELD_OPTIONS,
  fieldsOf,
  noteAnswers,
  noteDatasetFields,
  refuseFieldsWithoutData,
} from "./data-flags.ts";
import {
  ENDPOINT_FLAGS,
  endpointValues,
  SERVED_MODEL_OPTIONS,
  servedModel,
} from "./endpoint-flags.ts";
import {
  decimal,
  deviceFlag,
  type Flags,
  options,
  pluginFlag,
  refuseStray,
  seedFlag,
  setFlag,
  wholeNumber,
} from "./options.ts";
import { tierForData } from "./own-data.ts";
import { type FlagValue, overridesOf, settingsOf } from "./recipe-options.ts";
import { retrieverFlag, retrieverValue } from "./retriever-option.ts";
import { usage } from "./usage.ts";

/** Options for the policy, its searches and its protocol. Their help needs `addStrategies`. */
export const ANSWERING_OPTIONS = options({
  policy: [
    "<name>",
    "folder or GGUF file of a model, smollm2-135m, or org/name[@revision] of the hub; address of an OpenAI-compatible server (http://…/v1); " +
      "or a predictions file (.jsonl, .json); base: the shipped policy (default: the policy of --recipe; without --recipe base)",
  ],
  ...SERVED_MODEL_OPTIONS,
  ...FIELD_OPTIONS,
  chat: ["", "for a folder: ask through the model's chat template, the protocol explained"],
  dataset: [
    "<name>",
    "question file (JSON, JSON lines, CSV, TSV, Parquet), dataset folder, or a dataset's name (default: the held-out dataset of --recipe; without --recipe the tiny world)",
  ],
  index: [
    "<folder>",
    "made by `agentrl index build`; without it BM25 over the dataset's own passages",
  ],
  retriever: retrieverFlag("--index"),
  strategy: [
    "<name>",
    "how a question is answered: one of the strategies below, or a plugin's; docs/environments.md tells more (default: agent)",
  ],
  temperature: ["<t>", "0: the likeliest token (the default)", decimal(0)],
  recipe: ["<name>", "recipe that sets the environment (default: search-r1)"],
  tier: [
    "<tier>",
    "size of the budgets: smoke, mini or paper; default: mini where the recipe has it, paper for data of your own",
  ],
  device: deviceFlag(),
  set: setFlag(),
  plugin: pluginFlag(),
  seed: seedFlag(),
});

/** The same, with how many questions and answers an evaluation takes. */
export const MEASURING_OPTIONS = options({
  ...ANSWERING_OPTIONS,
  limit: ["<n>", "evaluate only the first n questions", wholeNumber(1)],
  shuffle: [
    "<seed>",
    "take questions in a random order, each type in its share; with --limit 100 of 900 bridge and 100 comparison questions: 90 and 10 (default: the dataset's order)",
    wholeNumber(0),
  ],
  samples: ["<k>", "draws per question, for avg@k and pass@k", wholeNumber(1)],
});

/** Flags for the policy, the questions and the protocol. */
export type MeasuringFlags = Flags<typeof MEASURING_OPTIONS>;

/** Adds the strategies to the help of a command, and loads what it tells of them where a user asks for it. */
export async function addStrategies(command: Command, { asksHelp }: CliContext): Promise<void> {
  if (asksHelp === true) await strategies.all();
  command.addHelpText("after", () => strategiesHelp(command));
}

/** Each strategy with its summary, formatted like options in help. */
function strategiesHelp(command: Command): string {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: process.stdout.isTTY ? process.stdout.columns : 80 });
  const width = Math.max(...strategies.names.map((name) => name.length));
  const lines = strategies.loaded.map(({ name, summary }) =>
    help.formatItem(name, width, summary, help),
  );
  return ["\nStrategies:", ...lines].join("\n");
}

/** The prompt for a policy that was not trained on the protocol. */
export const EXPLAINED_PROMPT = "{instructions}\n\nQuestion: {question}\n{context}";

/** What the settings of a policy on data need beside the flags. */
export interface Measuring {
  /** Tells why the data got other budgets than the recipe's default ones. */
  note: (text: string) => void;
  /** The user's questions or corpus, which decide the budgets; default: --dataset. */
  data?: string | undefined;
}

/**
 * The recipe's settings with the flags as overrides.
 * @throws {ConfigError} USAGE when flags exclude each other; as `settingsOf` and `evaluationDataset`.
 */
export async function measuringSettings(
  flags: MeasuringFlags,
  { note, data = flags.dataset }: Measuring,
): Promise<ResolvedSettings<Settings>> {
  const { policy = "base", recipe, tier } = flags;
  const asksOwn = await asksServerOfRecipe(flags);
  const kind = asksOwn ? "server" : kindOf(flags.policy);
  // Answers that were given elsewhere have no budgets.
  const chosen = await tierForData({
    recipe,
    tier,
    model: kind === "folder" ? policy : undefined,
    data: kind === "predictions" ? undefined : data,
  });
  if (chosen.note !== undefined) note(chosen.note);
  const given = { ...flags, ...chosen };
  const values: [key: string, value: unknown, flag: string][] = [
    ...(asksOwn ? serverValues(flags) : policyValues(flags)),
    ["policy.chat", flags.chat === true ? {} : undefined, "--chat"],
    ["evaluation.strategy.name", flags.strategy, "--strategy"],
    ["evaluation.sampling.temperature", flags.temperature, "--temperature"],
    ["evaluation.samplesPerTask", flags.samples, "--samples"],
  ];
  const overrides = [
    ...replacedPolicy(flags),
    ...(await retrieverOverrides(flags)),
    ...overridesOf(values),
  ];
  // Before --set, which may set its options.
  const strategy: FlagValue = ["evaluation.strategy", flags.strategy, "--strategy"];
  const assumed = [...chosen.assumed, ...overridesOf([...explained(flags), strategy])];
  const resolved = await settingsOf(given, overrides, assumed);
  const fields = fieldsOf(flags);
  if (flags.dataset === undefined) {
    refuseFieldsWithoutData(fields);
    await noteAnswers([resolved.settings.evaluation.dataset], { note });
    return resolved;
  }
  const { evaluationDataset } = await import("../run/run-eval.ts");
  const value = await evaluationDataset(flags.dataset, resolved.settings, fields);
  await noteDatasetFields(value, { note });
  const dataset = { key: "evaluation.dataset", value, origin: "--dataset" };
  return settingsOf(given, [...overrides, dataset], assumed);
}

/** What `--policy` names. */
type PolicyKind = "folder" | "server" | "predictions";

const KINDS: Record<PolicyKind, string> = {
  folder: "a model in a folder or of the hub",
  server: "a server (http://…/v1)",
  predictions: "a file of answers",
};

/** Flags that apply only to some kinds of policy. */
const FLAGS_OF: Partial<Record<keyof MeasuringFlags, readonly PolicyKind[]>> = {
  model: ["server"],
  api: ["server"],
  chat: ["folder"],
  ...Object.fromEntries(ENDPOINT_FLAGS.map((name) => [name, ["server"]])),
  index: ["folder", "server"],
  retriever: ["folder", "server"],
  strategy: ["folder", "server"],
  samples: ["folder", "server"],
  temperature: ["folder", "server"],
};

function kindOf(policy: string | undefined): PolicyKind {
  if (policy === undefined) return "folder";
  if (isServerAddress(policy) && !existsSync(policy)) return "server";
  return /\.jsonl?(\.gz)?$/.test(policy) && existsSync(policy) ? "predictions" : "folder";
}

/** @throws {ConfigError} USAGE */
function requireMeant(flags: MeasuringFlags, kind: PolicyKind): void {
  for (const [name, kinds] of Object.entries(FLAGS_OF)) {
    if (kinds.includes(kind)) continue;
    const meant = kinds.map((each) => KINDS[each]).join(" or ");
    const found = flags.policy === undefined ? "not given" : `${flags.policy}, ${KINDS[kind]}`;
    refuseStray(flags, [name], `${meant}, and --policy is ${found}`);
  }
}

/** Whether the recipe's policy is a server, and no --policy replaces it: --model and the options of servers then change that one. */
async function asksServerOfRecipe({ recipe, ...flags }: MeasuringFlags): Promise<boolean> {
  if (flags.policy !== undefined || recipe === undefined) return false;
  const { settings } = await settingsOf({ ...flags, recipe });
  return settings.policy.endpoint !== undefined;
}

/** @throws {ConfigError} USAGE */
function serverValues(flags: MeasuringFlags): FlagValue[] {
  requireMeant(flags, "server");
  refuseStray(flags, ["api"], "--policy; the recipe's server has policy.endpoint.api");
  const values = Object.entries(endpointValues(flags)).map(([key, value]): FlagValue => [
    `policy.endpoint.${key}`,
    value,
    "an option of servers",
  ]);
  return [["policy.endpoint.model", flags.model, "--model"], ...values];
}

/**
 * --policy replaces another kind of policy of the recipe: beside it, a server of the recipe would still be the one that is asked. A chat template
 * is a folder's: a server has its own.
 */
function replacedPolicy({ policy, recipe }: MeasuringFlags): Override[] {
  if (policy === undefined || recipe === undefined) return [];
  const kind = kindOf(policy);
  const others = [
    ...(kind === "server" ? [] : ["policy.endpoint"]),
    ...(kind === "predictions" ? [] : ["policy.predictions"]),
    ...(kind === "folder" ? [] : ["policy.chat"]),
  ];
  return others.map((key) => ({ key, value: undefined, origin: "--policy" }));
}

/** --retriever replaces the recipe's retrievers of training and of evaluations. @throws {ConfigError} USAGE beside --index; RECIPE_NOT_YAML */
async function retrieverOverrides({ retriever, index }: MeasuringFlags): Promise<Override[]> {
  if (retriever === undefined) return [];
  if (index !== undefined)
    throw usage(
      "--index and --retriever are both given: searches answer from one of them. Leave the other out.",
    );
  const origin = "--retriever";
  return [
    { key: "retriever", value: await retrieverValue(retriever), origin },
    { key: "evaluation.retriever", value: undefined, origin },
  ];
}

function policyValues(flags: MeasuringFlags): FlagValue[] {
  const { policy } = flags;
  const kind = kindOf(policy);
  requireMeant(flags, kind);
  if (kind === "predictions") return [["policy.predictions.file", policy, "--policy"]];
  if (kind === "folder" || policy === undefined) return [["policy.from", policy, "--policy"]];
  const served = servedModel(policy, flags, "--policy");
  return Object.entries(served).map(([key, value]) => [
    `policy.endpoint.${key}`,
    value,
    "--policy",
  ]);
}

/** For a policy that was not trained on the protocol: the prompt explains the protocol, unless the user sets a prompt. */
function explained({ policy, api, chat }: MeasuringFlags): FlagValue[] {
  const server = kindOf(policy) === "server";
  // Plain completions are for base models and policies trained here: the recipe's own prompt, as in training.
  if (chat !== true && (!server || api === "completions")) return [];
  const flag = server ? "--policy" : "--chat";
  return [
    ["environment.prompt", EXPLAINED_PROMPT, flag],
    ...(api === "tools"
      ? [["environment.protocol", { name: "hermes", calls: "native" }, "--api"] as FlagValue]
      : []),
  ];
}
