import { ConfigError } from "../../base/errors.ts";
import { pluginHashes } from "../../base/plugins.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { Environment } from "../../env/environments/environment.ts";
import { shortHash } from "../../evaluate/fingerprint.ts";
import type { Meter } from "../../http/meter.ts";
import type { HubModelOptions } from "../../hub/hub-model.ts";
import type { OpenedRoles } from "../../rollout/roles.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import type { OpenedAnnotation } from "../../synth/annotations/annotation.ts";
import { taskAnnotations } from "../../synth/annotations/index.ts";
import type { DrawSetting } from "../../synth/draw.ts";
import { sampleScorers } from "../../synth/scorers/index.ts";
import { type StepResources, teacherSegments } from "../../synth/steps/step.ts";
import { synthSchema, type SynthSettings } from "../../synth/synth-settings.ts";
import type { Provenance } from "../../trajectory/sample.ts";
import {
  environmentOver,
  expressionOf,
  openNamedDataset,
  retrieverOver,
  searchlessFor,
  weightedRewards,
} from "../assemble.ts";
import { openRoles, type RoleOptions } from "../roles.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { findTeacher, type FoundTeacher, teacherTokenizer } from "./find-teacher.ts";

/** What a synthesis draws from, found; its teacher is not loaded yet. */
export interface Synthesis {
  synth: SynthSettings;
  dataset: Dataset;
  /** What all of its samples have in common. */
  origin: DrawSetting["origin"];
  readsGold: boolean;
  /** Questions under way together. */
  window: number;
  /** Loads the teacher, and what is asked beside it. */
  open(): Promise<OpenedSynthesis>;
  close(): Promise<void>;
}

interface OpenedSynthesis {
  setting: DrawSetting;
  meter?: Meter;
  close(): Promise<void>;
}

/** Rollouts of an engine under way together: twice what one of two workers decodes at once. */
const ENGINE_WINDOW = 128;

/** A recipe's synthesis; the defaults where it has none. */
export function synthOf({ synth }: Settings): SynthSettings {
  return synth ?? synthSchema.parse({});
}

/**
 * Finds dataset, retriever and teacher.
 * @throws {ConfigError} DATASET_NOT_TRAINABLE for a test set; what they throw when they cannot be had.
 */
export async function findSynthesis(
  settings: Settings,
  { version, ...download }: HubModelOptions & { version: string },
): Promise<Synthesis> {
  const synth = synthOf(settings);
  const teacher = await findTeacher(settings, synth.teacher, download);
  const dataset = await openNamedDataset(settings.dataset, settings.environment);
  if (!dataset.trainable) {
    throw new ConfigError(
      "DATASET_NOT_TRAINABLE",
      `dataset is "${dataset.name}", a test set that must stay out of training: nothing to learn from is drawn of it. Name another.`,
    );
  }
  const retriever = await retrieverOver(dataset, searching(settings, synth), "training");
  const held: RoleOptions = { download };
  const roles = openRoles(settings, held);
  const environment = environmentOver(retriever, settings, "training", roles);
  const rollouts = synth.draws.reduce((sum, { samples }) => sum + samples, 0);
  const shared = {
    agentrl: version,
    teacher: teacher.mark,
    template: templateHash(settings, teacher.rendering),
    retriever: retriever.fingerprint,
    dataset: dataset.fingerprint,
  };
  const origin = { ...shared, settings: settingsHash(settings, teacher, shared) };
  return {
    synth,
    dataset,
    origin,
    readsGold: environment.readsGold,
    window: Math.max(1, Math.ceil((teacher.window ?? ENGINE_WINDOW) / rollouts)),
    open: () =>
      openSynthesis({ settings, synth, teacher, environment, roles, held, dataset, origin }),
    close: () => retriever.close(),
  };
}

/** The settings with a strategy that searches if anything here does, which decides whether there is a corpus. */
function searching(settings: Settings, { draws, annotate, scores }: SynthSettings): Settings {
  const named = draws.map(({ strategy }) => strategy);
  const found = named.find((each) => openStrategy(each, "synth.draws").searches);
  if (found !== undefined) return { ...settings, strategy: found };
  const asks = annotate.length + scores.length > 0;
  return asks ? { ...settings, strategy: AGENT } : { ...settings, strategy: named[0] ?? AGENT };
}

/** A strategy that searches. */
const AGENT = { name: "agent" } as Settings["strategy"];

/** Hash of the teacher's prompt template, grammar and budgets. */
function templateHash(settings: Settings, rendering: unknown): string {
  return shortHash({ environment: worldOf(settings), rendering: rendering ?? null });
}

function worldOf({ environment, budgets }: Settings): object {
  return { ...environment, budgets };
}

/** Hash of all that a draw depends on beside its question: with equal ones, equal draws. */
function settingsHash(
  settings: Settings,
  { mark, options, rendering }: FoundTeacher,
  { retriever, dataset }: Pick<Provenance, "retriever" | "dataset">,
): string {
  const { draws, annotate, scores } = synthOf(settings);
  const { rewards, sampling, seed } = settings;
  const environment = worldOf(settings);
  // Equal weights are the same teacher by any name.
  const { from: _, ...weights } = mark;
  const teacher = mark.sha256 === undefined ? mark : weights;
  const written = { environment, rewards, sampling, seed, draws, annotate, scores };
  return shortHash({
    teacher,
    options: options ?? null,
    rendering: rendering ?? null,
    retriever,
    dataset,
    ...written,
    ...pluginHashes([written, settings.retriever, settings.retrievers]),
  });
}

interface Found extends Pick<Synthesis, "synth" | "dataset" | "origin"> {
  settings: Settings;
  teacher: FoundTeacher;
  environment: Environment;
  roles: OpenedRoles;
  /** What the role `policy` asks: set when the teacher is open. */
  held: RoleOptions;
}

async function openSynthesis(found: Found): Promise<OpenedSynthesis> {
  const { settings, synth, teacher, environment, roles, dataset, origin } = found;
  const opened = await teacher.open(environment);
  const { policy, meter } = opened;
  if (opened.held !== undefined) found.held.policy = opened.held;
  const { seed, sampling } = settings;
  const annotations: OpenedAnnotation[] = [];
  const closeAll = async (): Promise<void> => {
    await roles.close();
    for (const each of annotations) await each.close();
    await opened.close();
  };
  try {
    const passages = () => dataset.passages();
    for (const { name, ...options } of synth.annotate) {
      const part = taskAnnotations.get(name, "synth.annotate");
      annotations.push(await part.open(options, { policy, environment, passages, seed }));
    }
    const scorers = synth.scores.map(({ name, ...options }) =>
      sampleScorers.get(name, "synth.scores").open(options, { policy, environment, seed }),
    );
    const setting = {
      policy,
      environment,
      draws: synth.draws,
      sampling,
      annotations,
      scorers,
      seed,
      origin,
      rewards: weightedRewards(settings),
      scoring: { expression: expressionOf(settings), roles },
    };
    return { setting, meter, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** What a synthesis's steps read trajectories with: neither a corpus nor a model is opened for it. */
export async function stepResources(
  settings: Settings,
  download: HubModelOptions,
): Promise<StepResources> {
  const { protocol, toolSchemas: tools } = environmentOver(searchlessFor(settings), settings);
  const tokenizer = await teacherTokenizer(settings, synthOf(settings).teacher, download);
  return { protocol, tools, seed: settings.seed, ...teacherSegments(tokenizer) };
}
