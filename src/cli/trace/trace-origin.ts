import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readJson } from "../../base/files.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { ChatOptions } from "../../rollout/model-settings.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { LintContext } from "../../trajectory/lint/lint-reading.ts";
import type { Provenance } from "../../trajectory/sample.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";

/** Sampling settings of trajectories. */
interface DrawSettings {
  /** Its name in settings; undefined: unknown. */
  strategy: unknown;
  sampling: { temperature: number } | undefined;
  /** Whether the sampler rounded its matrices, so that its log-probabilities are not the trainer's. */
  rounded?: boolean;
}

/** Origin of a file of trajectories, from the files beside it. */
export interface TraceOrigin {
  /** Source of these facts: a path, or a flag. */
  from: string;
  environment: Pick<Environment, "protocol" | "answers">;
  /** Folder or name of the policy; undefined if unknown. */
  policy: string | undefined;
  /** Chat-template settings of the policy; undefined: none. */
  chat: ChatOptions | undefined;
  drawSettingsOf: (trajectory: Trajectory, provenance: Provenance | undefined) => DrawSettings;
}

/**
 * Finds how the trajectories of a file were made: from the recipe.resolved.yaml of its run, or the results.json of its evaluation.
 * @param named protocol that overrides both, with its defaults.
 * @returns null if unknown.
 */
export async function findOrigin(file: string, named?: string): Promise<TraceOrigin | null> {
  const found = await beside(file);
  if (named === undefined) return found;
  const { protocols } = await import("../../env/protocols/index.ts");
  const protocol = protocols.get(named, "--protocol").create({});
  const unknown: DrawSettings = { strategy: undefined, sampling: undefined };
  return {
    ...(found ?? { policy: undefined, chat: undefined, drawSettingsOf: () => unknown }),
    from: `--protocol ${named}`,
    environment: { protocol, answers: found?.environment.answers ?? true },
  };
}

async function beside(file: string): Promise<TraceOrigin | null> {
  const folder = dirname(resolve(file));
  // The trajectories of a training's steps are in their own folder.
  for (const place of [folder, dirname(folder)]) {
    // An evaluation has both, and its results name the policy by its content.
    const results = join(place, "results.json");
    if (existsSync(results)) return ofResults(results);
    const recipe = join(place, "recipe.resolved.yaml");
    if (existsSync(recipe)) return ofRecipe(recipe);
  }
  return null;
}

async function ofRecipe(path: string): Promise<TraceOrigin> {
  const { loadRecipe, tiersOf } = await import("../../run/settings/recipe-file.ts");
  const { loadSettings, recordedSettings, resolveSettings } =
    await import("../../run/settings/settings.ts");
  const { settingsSchema } = await import("../../run/settings/settings-schema.ts");
  const recipe = await loadRecipe(path);
  const [tier = "mini"] = tiersOf(recipe);
  const recorded = recordedSettings(resolveSettings(recipe, { tier }));
  const { settings } = await loadSettings(settingsSchema, recorded);
  return {
    from: path,
    environment: await environmentOf(settings.environment),
    policy: settings.policy.from,
    chat: settings.policy.chat,
    drawSettingsOf: ({ purpose }, provenance) => drawSettingsIn(settings, purpose, provenance),
  };
}

function drawSettingsIn(
  settings: Settings,
  purpose: Trajectory["purpose"],
  provenance: Provenance | undefined,
): DrawSettings {
  const rounded = settings.engine.samplingWeights !== "float32";
  if (provenance === undefined) {
    const { strategy, sampling } = purpose === "eval" ? settings.evaluation : settings;
    return { strategy, sampling, rounded };
  }
  const draw = drawsIn(settings).find(({ name }) => name === provenance.draw.name);
  return { strategy: provenance.strategy, sampling: draw?.sampling ?? settings.sampling, rounded };
}

/** Sampling of a synthesis; nothing without one. */
function drawsIn(settings: object): { name: string; sampling?: DrawSettings["sampling"] }[] {
  const { synth } = settings as { synth?: { draws?: { name: string }[] } };
  return synth?.draws ?? [];
}

async function ofResults(path: string): Promise<TraceOrigin | null> {
  const { protocol, policy } = (await readJson(path)) as {
    protocol?: Record<string, unknown>;
    policy?: { from?: string; samplingWeights?: string };
  };
  const environment = protocol?.["environment"];
  if (typeof environment !== "object" || environment === null) return null;
  const drawn = protocol as unknown as DrawSettings;
  const rendering = protocol?.["rendering"] as ({ template?: string } & ChatOptions) | undefined;
  return {
    from: path,
    environment: await environmentOf(environment),
    policy: policy?.from,
    // Servers also have a rendering, but it renders nothing here.
    chat: rendering?.template === undefined ? undefined : rendering,
    drawSettingsOf: (_, provenance) => ({
      strategy: provenance?.strategy ?? drawn.strategy,
      sampling: drawn.sampling,
      rounded: policy?.samplingWeights !== undefined,
    }),
  };
}

/** An environment for its grammar alone: its retrievers are empty. */
async function environmentOf(environment: object): Promise<Environment> {
  const { environments } = await import("../../worlds/datasets.ts");
  const { noneRetriever } = await import("../../retrieval/controls/none.ts");
  const { allNamed } = await import("../../env/tools/index.ts");
  const { name = "search-qa", budgets: _, ...options } = environment as Record<string, unknown>;
  const part = await environments.load(String(name), "environment");
  const retriever = noneRetriever();
  const tools = Array.isArray(options["tools"]) ? (options["tools"] as unknown[]) : [];
  const names = tools.map((tool) => String((tool as { retriever?: unknown } | null)?.retriever));
  return part.create(options, { retriever, retrievers: allNamed(names, retriever) });
}

/** The parts of an origin for the lint rules. */
export async function lintContextsOf(
  origin: TraceOrigin | null,
): Promise<(trajectory: Trajectory, provenance: Provenance | undefined) => LintContext> {
  const { lintContextOf } = await import("../../rollout/lint-context.ts");
  const { strategies } = await import("../../rollout/strategies/index.ts");
  await strategies.all();
  return (trajectory, provenance) => {
    const drawn = origin?.drawSettingsOf(trajectory, provenance);
    return lintContextOf({
      environment: origin?.environment ?? null,
      strategy: nameOf(drawn?.strategy ?? provenance?.strategy),
      temperature: drawn?.sampling?.temperature ?? null,
    });
  };
}

function nameOf(strategy: unknown): string | null {
  if (typeof strategy === "string") return strategy;
  if (typeof strategy !== "object" || strategy === null) return null;
  const { name } = strategy as { name?: unknown };
  return typeof name === "string" ? name : null;
}
