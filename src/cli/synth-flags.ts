import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { isServerAddress } from "../http/http-options.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import { FIELD_OPTIONS, datasetOf, noteAnswers, noteDatasetFields } from "./data-flags.ts";
import { ENDPOINT_FLAGS, SERVED_MODEL_OPTIONS, servedModel } from "./endpoint-flags.ts";
import { EXPLAINED_PROMPT } from "./eval-flags.ts";
import {
  type Flags,
  deviceFlag,
  options,
  pluginFlag,
  refuseStray,
  seedFlag,
  setFlag,
  wholeNumber,
} from "./options.ts";
import { DEFAULT_RECIPE, tierForData } from "./own-data.ts";
import { type FlagValue, overridesOf, settingsOf } from "./recipe-options.ts";

/** Options for the teacher, the questions and the corpus. */
export const SYNTH_OPTIONS = options({
  recipe: ["<name>", `name of a shipped recipe, or a path (default: ${DEFAULT_RECIPE})`],
  tier: [
    "<tier>",
    "smoke, mini or paper; mini where there is one, but paper for a --dataset without a --recipe: its budgets fit real text",
  ],
  teacher: [
    "<name>",
    "who writes: gold-chain (the dataset's own gold, no model; the default), base (the policy that is shipped), a model's folder " +
      "or org/name of the hub, or the address of an OpenAI-compatible server (http://…/v1)",
  ],
  ...SERVED_MODEL_OPTIONS,
  ...FIELD_OPTIONS,
  chat: ["", "for a folder: ask through the model's chat template, the protocol explained"],
  dataset: [
    "<name>",
    "question file (JSON, JSON lines, CSV, TSV, Parquet), dataset folder, or a dataset's name",
  ],
  index: [
    "<folder>",
    "made by `agentrl index build`; without it what the recipe says, over the dataset's own passages",
  ],
  limit: ["<n>", "at most so many questions, from the start", wholeNumber(1)],
  device: deviceFlag(),
  set: setFlag(),
  plugin: pluginFlag(),
  seed: seedFlag(),
});

export type SynthFlags = Flags<typeof SYNTH_OPTIONS>;

/**
 * The recipe's settings with the flags as overrides. --set wins over settings that follow from --teacher.
 * @throws {ConfigError} USAGE when flags exclude each other; PART_UNKNOWN for a dataset; as `settingsOf`.
 */
export async function synthSettings(
  flags: SynthFlags,
  note: (text: string) => void,
): Promise<ResolvedSettings<Settings>> {
  const { teacher, recipe, tier } = flags;
  const model = teacher !== undefined && isModel(teacher) ? teacher : undefined;
  const chosen = await tierForData({ recipe, tier, data: flags.dataset, model });
  if (chosen.note !== undefined) note(chosen.note);
  const given = { ...flags, ...chosen };
  const steps = await defaultSteps(given.recipe, flags.plugin);
  const assumed = [
    ...chosen.assumed,
    ...overridesOf([
      ["synth", {}, "default"],
      ["synth.steps", steps, "default"],
      ...teacherValues(flags),
    ]),
  ];
  const values: FlagValue[] = [["synth.limit", flags.limit, "--limit"]];
  if (flags.index !== undefined)
    values.push(["retriever", await indexRetriever(flags.index), "--index"]);
  const resolved = await settingsOf(given, overridesOf(values), assumed);
  const dataset = datasetOf(flags);
  if (dataset === undefined || flags.dataset === resolved.settings.dataset.name) {
    await noteAnswers([resolved.settings.dataset], { note });
    return resolved;
  }
  await noteDatasetFields(dataset, { note });
  values.push(["dataset", dataset, "--dataset"]);
  const plain = await settingsOf(given, overridesOf(values), assumed);
  // Stdin is read once. Without a note the user chose recipe or tier.
  const isChosen = flags.set?.some((each) => each.startsWith("budgets")) ?? false;
  if (chosen.note === undefined || isChosen || flags.dataset === "-") return plain;
  const turns = await turnsFor(plain.settings, note);
  if (turns === undefined) return plain;
  return settingsOf(given, overridesOf(values), [...overridesOf([turns]), ...assumed]);
}

/** Questions whose hops are looked at. */
const SEEN = 1000;

/** A higher limit of turns where questions need more searches than it allows: their hops, a search that fails, and the answer. */
async function turnsFor(
  { dataset, environment, budgets, synth }: Settings,
  note: (text: string) => void,
): Promise<FlagValue | undefined> {
  const { openNamedDataset } = await import("../run/assemble.ts");
  const questions = await openNamedDataset(dataset, environment);
  let hops = 0;
  for await (const { annotations } of questions.stream(Math.min(SEEN, synth?.limit ?? SEEN)))
    hops = Math.max(hops, annotations.hops ?? annotations.decomposition?.length ?? 0);
  const at = budgets.findIndex(({ scope, unit }) => scope === "trajectory" && unit === "turns");
  const limit = budgets[at]?.limit;
  if (typeof limit !== "number" || hops + 2 <= limit) return undefined;
  note(
    `Questions need up to ${hops} passages: the limit is ${hops + 2} turns instead of ${limit} (--set budgets.${at}.limit=${limit} keeps it).`,
  );
  return [`budgets.${at}.limit`, hops + 2, "default"];
}

/** Steps of a recipe without its own `synth`: wrong, unfinished and malformed answers are no training data. */
async function defaultSteps(
  recipe: string,
  plugins: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const { loadRecipe } = await import("../run/settings/recipe-file.ts");
  const { base, tiers } = await loadRecipe(recipe, plugins);
  const hasOwn = [base, ...Object.values(tiers)].some(
    (settings) => settings?.["synth"] !== undefined,
  );
  return hasOwn ? undefined : ["answered", "correct", "format"];
}

function isServerOf(teacher: string): boolean {
  return isServerAddress(teacher) && !existsSync(teacher);
}

/** Whether a teacher is a model that is run here. */
function isModel(teacher: string): boolean {
  return !isServerOf(teacher) && teacher !== "gold-chain";
}

/** Teachers that are neither a server nor a folder nor org/name of the hub. */
const NAMED_TEACHERS = ["gold-chain", "base"];

/** @throws {ConfigError} PART_UNKNOWN for a single word that names nothing. */
function requireTeacher(teacher: string): void {
  if (NAMED_TEACHERS.includes(teacher) || teacher.includes("/") || existsSync(teacher)) return;
  throw new ConfigError(
    "PART_UNKNOWN",
    `--teacher is "${teacher}"; there is no such folder and no such teacher. ${suggest(teacher, NAMED_TEACHERS)} A model of the hub is org/name, a server http://…/v1.`,
  );
}

function teacherValues(flags: SynthFlags): FlagValue[] {
  const { teacher, api, chat } = flags;
  const isServer = teacher !== undefined && isServerOf(teacher);
  const asksModel = teacher !== undefined && isModel(teacher);
  const found = teacher === undefined ? "--teacher is not given" : `--teacher is ${teacher}`;
  if (!isServer)
    refuseStray(flags, ["model", "api", ...ENDPOINT_FLAGS], `a server (http://…/v1), and ${found}`);
  if (!asksModel) refuseStray(flags, ["chat"], `a model in a folder or of the hub, and ${found}`);
  if (teacher === undefined) return [];
  if (!isServer) {
    requireTeacher(teacher);
    const template = chat === true ? { chat: {} } : {};
    const value = asksModel ? { name: "model", from: teacher, ...template } : { name: teacher };
    const prompt: FlagValue = ["environment.prompt", EXPLAINED_PROMPT, "--chat"];
    return [["synth.teacher", value, "--teacher"], ...(chat === true ? [prompt] : [])];
  }
  const asked = { name: "endpoint", ...servedModel(teacher, flags, "--teacher") };
  const native = { name: "hermes", calls: "native" };
  return [
    ["synth.teacher", asked, "--teacher"],
    // Plain completions are for base models and policies trained here: the recipe's own prompt, as in training.
    ["environment.prompt", api === "completions" ? undefined : EXPLAINED_PROMPT, "--teacher"],
    ["environment.protocol", api === "tools" ? native : undefined, "--api"],
  ];
}

/** The retriever setting for an index folder. */
export async function indexRetriever(index: string): Promise<object> {
  const { indexKind } = await import("../retrieval/store/index-folder.ts");
  return { name: (await indexKind(index)) === "dense" ? "dense" : "bm25", index };
}
