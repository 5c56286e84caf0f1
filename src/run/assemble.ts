import { existsSync } from "node:fs";
import { join } from "node:path";
import { criticTrunkOf } from "../algorithms/index.ts";
import { ConfigError } from "../base/errors.ts";
import { sha256 } from "../base/files.ts";
import { milliseconds } from "../base/waits/deadlines.ts";
import { loadChatTemplate } from "../chat/load-chat-template.ts";
import type { Dataset, OwnTasks } from "../data/dataset.ts";
import type { PolicyEngine, RolloutEngine } from "../engine/engine.ts";
import { type TinkerServer, openPolicyEngine } from "../engine/open-engine.ts";
import type { Budget } from "../env/budget.ts";
import type { Environment } from "../env/environments/environment.ts";
import { allNamed } from "../env/tools/index.ts";
import { type HubModelOptions, modelFolder } from "../hub/hub-model.ts";
import { baseOfAdapter, isAdapterFolder } from "../models/lora/adapter-folder.ts";
import { noneRetriever } from "../retrieval/controls/none.ts";
import { openRetriever } from "../retrieval/index.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { type RewardExpression, rewardExpression } from "../rewards/expression/expression.ts";
import { type Rendering, chatRendering } from "../rollout/chat-rendering.ts";
import { type TokenPolicy, enginePolicy } from "../rollout/policy.ts";
import type { WeightedReward } from "../rollout/score.ts";
import { openStrategy, requireFitting } from "../rollout/strategies/named-strategy.ts";
import type { Roles } from "../trajectory/role.ts";
import { environments } from "../worlds/datasets.ts";
import { openDataset } from "../worlds/open-dataset.ts";
import { type PolicyOptions, SHIPPED_POLICIES, findBase, knownNames, madeBase } from "./bases.ts";
import { requireDialect, requireRemoteEngine } from "./checks/remote-engine.ts";
import { fetchNamedModel } from "./fetch-named-model.ts";
import { checkpointFolder, stepsIn } from "./folder/checkpoints.ts";
import { ggufFolder, isGgufName } from "./gguf-policy.ts";
import { namedModel } from "./named-models.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** Progress and notices of a policy's download, and how a base is made. */
export type PolicyDownload = Pick<PolicyOptions, "onProgress" | "onNotice" | "makeBase" | "onBase">;

/**
 * The folder of a policy that is named: a shipped one, a base, which is made where the cache lacks it, a folder, a GGUF file, which is
 * converted where the cache lacks it, or a model of the hub, which is downloaded where the cache lacks it.
 * @throws as `modelFolder`, `ggufFolder` and `madeBase`.
 * @throws {ConfigError} POLICY_IS_RUN
 */
export async function policyFolder(from: string, options: PolicyOptions = {}): Promise<string> {
  const base = await findBase(from);
  if (base !== null) return madeBase(base, options);
  const named = SHIPPED_POLICIES.get(from) ?? from;
  const folder = await foundModel(named, { ...options, known: knownNames() });
  const steps = await stepsIn(folder);
  const hasPolicy = existsSync(join(folder, "policy"));
  if (!hasPolicy && steps.length === 0) return folder;
  const meant = hasPolicy ? join(from, "policy") : checkpointFolder(from, Math.max(...steps));
  throw new ConfigError(
    "POLICY_IS_RUN",
    `${from}: is a run folder. Give one of its policies, such as ${meant}.`,
  );
}

/** The folder of a model that is a name, a folder, a GGUF file or on the hub. @throws as `fetchNamedModel`, `ggufFolder` and `modelFolder`. */
async function foundModel(
  model: string,
  options: HubModelOptions & { known?: readonly string[] },
): Promise<string> {
  const named = namedModel(model);
  if (named !== undefined) return (await fetchNamedModel(named, options)).folder;
  return isGgufName(model) ? ggufFolder(model, options) : modelFolder(model, options);
}

/**
 * The folder of the model that a folder's adapters belong to, which is downloaded where it is one of the hub; null for a whole model.
 * @throws as `baseOfAdapter`, `ggufFolder` and `modelFolder`.
 */
export async function baseFolder(
  model: string,
  options: HubModelOptions = {},
): Promise<string | null> {
  return isAdapterFolder(model) ? foundModel(await baseOfAdapter(model), options) : null;
}

/**
 * @param options.trains false: it is only run.
 * @throws {DataError} when the folder holds no model that can be run.
 */
export async function openEngine(
  settings: Settings,
  model: string,
  options: HubModelOptions & { trains?: boolean } = {},
): Promise<PolicyEngine> {
  const { trains = true, ...download } = options;
  const { workers, threads, device, slots, microBatchTokens, recompute } = settings.engine;
  const { frozenWeights, samplingWeights } = settings.engine;
  const { lora } = settings.policy;
  const base = await baseFolder(model, download);
  const server = serverOf(settings, trains);
  const critic = trains && settings.algorithm !== undefined && criticTrunkOf(settings.algorithm);
  return openPolicyEngine({
    critic: critic === false ? undefined : critic,
    model,
    device,
    slots,
    microBatchTokens,
    recompute,
    trains,
    frozenWeights,
    samplingWeights,
    stallMs: milliseconds(settings.deadlines.engineSeconds),
    base: base ?? undefined,
    lora: lora === undefined ? undefined : { ...lora, seed: settings.seed },
    workers,
    threads,
    server: server ?? undefined,
  });
}

/**
 * The training server that a recipe names; null: it trains on this machine.
 * @throws {ConfigError} RECIPE_BAD_VALUE, ENGINE_UNFIT as `requireRemoteEngine`.
 */
function serverOf(settings: Settings, trains: boolean): TinkerServer | null {
  const { name, url, model = null, apiKeyEnv, dialect = null, sampler } = settings.engine;
  if (name === "local") return null;
  requireRemoteEngine(settings);
  const stallMs = milliseconds(settings.deadlines.engineSeconds);
  const sampling =
    sampler === undefined ? {} : { sampler: { ...sampler, model: sampler.model ?? null } };
  const requireFit: TinkerServer["requireFit"] = (found) => {
    if (trains) requireDialect(settings, found);
  };
  return { url: url ?? "", model, apiKeyEnv, dialect, stallMs, requireFit, ...sampling };
}

/**
 * The policy that an engine holds, asked as the recipe says.
 * @throws as `chatRendering` and `loadChatTemplate`, where it is asked through a chat template.
 */
export async function policyOf(
  engine: RolloutEngine,
  settings: Settings,
  model: string,
  environment: Environment,
): Promise<TokenPolicy> {
  return enginePolicy(
    engine,
    engine.tokenizer,
    await renderingOf(engine, settings, { model, environment }),
  );
}

/** Rendering of text for a policy; undefined: unchanged. @throws {ConfigError} RECIPE_BAD_VALUE. @throws as `chatRendering` and `loadChatTemplate`. */
export async function renderingOf(
  { tokenizer }: Pick<RolloutEngine, "tokenizer">,
  { policy: { chat } }: Settings,
  { model, environment }: { model: string; environment: Environment },
): Promise<Rendering | undefined> {
  const native = environment.protocol.writeCalls !== undefined;
  if (chat === undefined) {
    if (!native) return undefined;
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `environment.protocol leaves calls of tools to a chat template or server, and the policy has neither. Set policy.chat (for example {}), or let the protocol write calls as text.`,
    );
  }
  const template = await loadChatTemplate(await templateFolder(model), { tools: native });
  const tools = native ? { tools: environment.toolSchemas } : {};
  return chatRendering(template, tokenizer, { ...chat, ...tools });
}

/** Adapters are asked as their base is. */
export async function templateFolder(model: string): Promise<string> {
  return (await baseFolder(model)) ?? model;
}

/** How text is put to a model, for fingerprints; undefined: as it is. */
export async function renderingFacts(
  { policy: { chat } }: Settings,
  model: string,
): Promise<unknown> {
  if (chat === undefined) return undefined;
  const { source } = await loadChatTemplate(await templateFolder(model));
  return { template: sha256(source), ...chat };
}

/** @throws {ConfigError} RECIPE_BAD_VALUE when the policy is one that can only be asked. */
export function requireTrainable({ policy: { endpoint, predictions } }: Settings): void {
  if (endpoint === undefined && predictions === undefined) return;
  const [key, found] =
    endpoint === undefined ? ["predictions", "a file of answers"] : ["endpoint", endpoint.baseUrl];
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `policy.${key} is ${found}, which can be evaluated but not trained. Only a model that runs here can be: name its folder, or org/name of the Hugging Face hub, by policy.from in place of policy.${key}. For your own data, agentrl init --policy FOLDER writes such a recipe.`,
  );
}

/** Opens what `dataset` or `evaluation.dataset` names. */
export async function openNamedDataset(
  named: Settings["dataset"],
  environment: Settings["environment"],
): Promise<Dataset> {
  const { name: world, ...ofWorld } = environment;
  const part = environments.get(world, "environment");
  const own: OwnTasks = (draw) => part.tasks?.(ofWorld, draw) ?? [];
  return openDataset(named, "dataset", part.tasks === undefined ? undefined : own);
}

/**
 * The recipe's retriever for training or for its evaluation; one that needs a corpus gets the dataset's own. A strategy that
 * never searches finds nothing: question files without passages can still be answered directly.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when it looks at gold passages and no question names any.
 */
export async function retrieverOver(
  dataset: Dataset,
  settings: Settings,
  purpose: Purpose,
): Promise<OpenedRetriever> {
  const evaluates = purpose === "evaluation";
  const { strategy } = evaluates ? settings.evaluation : settings;
  const { name, ...options } = settings.environment;
  const needs = environments.get(name, "environment").needs(options);
  if (!needs.includes("retriever") || !openStrategy(strategy, "strategy").searches)
    return searchlessFor(settings);
  const own = evaluates ? settings.evaluation.retriever : undefined;
  const main = await mainRetriever(dataset, own ?? settings.retriever, own === undefined);
  return settings.retrievers === undefined ? main : withNamed(main, dataset, settings.retrievers);
}

/** A retriever that finds nothing, in place of the recipe's and of each of its `retrievers`. */
export function searchlessFor({ retrievers }: Pick<Settings, "retrievers">): OpenedRetriever {
  const none = noneRetriever();
  const names = Object.keys(retrievers ?? {});
  return names.length === 0 ? none : { ...none, named: allNamed(names, none) };
}

/** The recipe's retriever, and those of its `retrievers`, which are closed with it. */
export type OpenedRetriever = Retriever & { readonly named?: Readonly<Record<string, Retriever>> };

async function withNamed(
  main: Retriever,
  dataset: Dataset,
  settings: NonNullable<Settings["retrievers"]>,
): Promise<OpenedRetriever> {
  const named: Record<string, Retriever> = {};
  const close = async (): Promise<void> => {
    for (const each of [main, ...Object.values(named)]) await each.close();
  };
  try {
    for (const [name, each] of Object.entries(settings))
      named[name] = await openRetriever(each, () => dataset.passages());
  } catch (error) {
    await close();
    throw error;
  }
  const all = [main.fingerprint, ...Object.entries(named).map(([k, v]) => `${k}=${v.fingerprint}`)];
  return {
    name: main.name,
    fingerprint: all.join("+"),
    named,
    close,
    reads: main.reads,
    search: (...request) => main.search(...request),
  };
}

async function mainRetriever(
  dataset: Dataset,
  named: Settings["retriever"],
  isRecipes: boolean,
): Promise<Retriever> {
  const retriever = await openRetriever(named, () => dataset.passages());
  if (retriever.reads?.includes("supporting-passages") === true) {
    const tasks = await dataset.tasks();
    if (!tasks.some(({ annotations }) => annotations.supportingPassages?.length)) {
      await retriever.close();
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `${isRecipes ? "retriever" : "evaluation.retriever"} is "${named.name}", which looks at gold passages; no question of ${dataset.name} names any. Use a dataset with supporting passages, or another retriever.`,
      );
    }
  }
  return retriever;
}

/** What a run is made for: training, or the evaluation around it. */
export type Purpose = "training" | "evaluation";

/** The budgets of training or of the evaluation. */
export function budgetsFor({ budgets, evaluation }: Settings, purpose: Purpose): readonly Budget[] {
  return purpose === "evaluation" ? (evaluation.budgets ?? budgets) : budgets;
}

/**
 * The recipe's environment.
 * @throws {ConfigError} STRATEGY_UNFIT when a strategy of the recipe needs something that it does not have.
 */
export function environmentOver(
  retriever: OpenedRetriever,
  settings: Settings,
  purpose: Purpose = "training",
  roles?: Roles,
): Environment {
  const { name, ...options } = settings.environment;
  const environment = environments
    .get(name, "environment")
    .create(options, {
      retriever,
      retrievers: retriever.named ?? {},
      budgets: budgetsFor(settings, purpose),
      deadlineMs: milliseconds(settings.deadlines.toolSeconds),
      roles,
    });
  const evaluates = purpose === "evaluation";
  const { strategy } = evaluates ? settings.evaluation : settings;
  requireFitting(strategy, environment, evaluates ? "evaluation.strategy" : "strategy");
  return environment;
}

/** The recipe's rewards, options apart from name and weight. Beside an expression only those with a weight of their own count. */
export function weightedRewards({ rewards, reward }: Settings): WeightedReward[] {
  const absent = reward === undefined ? 1 : 0;
  return rewards.map(({ name, as, weight = absent, lazy, ...options }) => {
    return { name, weight, lazy, options, as };
  });
}

/** The recipe's `reward:`; undefined: the weighted sum. */
export function expressionOf({ reward, rewards }: Settings): RewardExpression | undefined {
  if (reward === undefined) return undefined;
  return rewardExpression(
    reward,
    rewards.map(({ name, as = name }) => as),
  );
}
