import { z } from "../../../base/schema.ts";
import { settingText } from "../reporter-event.ts";
import type { RunStart } from "../reporter.ts";
import { type Ask, ServerRefusal } from "../server.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Metrics, tags and parameters that one `runs/log-batch` may have. Source: MLflow's REST API 2.0,
 * "Request Limits".
 */
export const MOST = { metrics: 1000, params: 100, tags: 100 };

/**
 * Characters of a parameter's value. MLflow 3 takes 6000, servers of versions 1.29 to 2.7 take 500
 * and refuse longer values.
 */
const MOST_PARAM_CHARACTERS = 500;

/** Characters of a tag's value that every version takes. */
const MOST_TAG_CHARACTERS = 5000;

const MOST_NAME_CHARACTERS = 250;

/**
 * A name as MLflow takes it: letters, digits, `_ - . : /` and spaces; `@` becomes `_at_`, and
 * anything else `_`.
 * @example nameFor("evaluation/pass@4") // "evaluation/pass_at_4"
 */
export function nameFor(name: string): string {
  const plain = name.replaceAll("@", "_at_").replaceAll(/[^\w\-.: /]/g, "_");
  return plain.slice(0, MOST_NAME_CHARACTERS);
}

function paramText(text: string): string {
  return cut(text, MOST_PARAM_CHARACTERS);
}

export function tagText(text: string): string {
  return cut(text, MOST_TAG_CHARACTERS);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export interface MlflowRun {
  log(batch: Batch, signal: AbortSignal): Promise<void>;
  end(status: string, at: number, signal: AbortSignal): Promise<void>;
}

interface Batch {
  metrics?: readonly { key: string; value: number | string; timestamp: number; step: number }[];
  params?: readonly Entry[];
  tags?: readonly Entry[];
}

interface Entry {
  key: string;
  value: string;
}

interface WantedRun {
  start: RunStart;
  experiment: string;
  runName: string;
  ledger: Ledger;
  signal: AbortSignal;
}

const API = "/api/2.0/mlflow";
const TOKEN_TAG = "agentrl.run";

const nothing = z.unknown();
const experimentSchema = z.object({
  experiment: z.object({ experiment_id: z.string(), lifecycle_stage: z.string().optional() }),
});
const runSchema = z.object({
  info: z.object({ run_id: z.string(), lifecycle_stage: z.string().optional() }),
  data: z
    .object({
      params: z.array(z.object({ key: z.string(), value: z.string().default("") })).default([]),
    })
    .prefault({}),
});

type FoundRun = z.output<typeof runSchema>;

/** Finds or creates the run and logs its settings. A resumed run keeps its MLflow run. */
export async function connectRun(ask: Ask, wanted: WantedRun): Promise<MlflowRun> {
  const { ledger, signal } = wanted;
  const found = (await runOf(ask, wanted)) ?? (await makeRun(ask, wanted));
  const runId = found.info.run_id;
  if (ledger.runId !== runId) await ledger.made(runId);
  const run = runWith(ask, runId);
  await run.log(settingsOf(found, wanted.start), signal);
  return run;
}

function runWith(ask: Ask, runId: string): MlflowRun {
  return {
    async log({ metrics = [], params = [], tags = [] }, signal) {
      const batches = Math.max(
        ...[metrics.length / MOST.metrics, params.length / MOST.params, tags.length / MOST.tags],
      );
      for (let i = 0; i < batches; i++) {
        const body = {
          run_id: runId,
          metrics: part(metrics, MOST.metrics, i),
          params: part(params, MOST.params, i),
          tags: part(tags, MOST.tags, i),
        };
        await ask({ path: `${API}/runs/log-batch`, body, signal }, nothing);
      }
    },
    async end(status, at, signal) {
      const body = { run_id: runId, status, end_time: at };
      await ask({ path: `${API}/runs/update`, body, signal }, nothing);
    },
  };
}

function part<T>(items: readonly T[], most: number, i: number): readonly T[] {
  return items.slice(i * most, (i + 1) * most);
}

/** The run of this folder, reopened; null if the server has none. */
async function runOf(ask: Ask, { ledger, signal }: WantedRun): Promise<FoundRun | null> {
  const { runId } = ledger;
  if (runId === null) return null;
  const question = { path: `${API}/runs/get`, parameters: { run_id: runId }, signal };
  const reply = await ask(question, z.object({ run: runSchema })).catch(unlessMissing);
  if (reply === null || reply.run.info.lifecycle_stage === "deleted") return null;
  const body = { run_id: runId, status: "RUNNING" };
  await ask({ path: `${API}/runs/update`, body, signal }, nothing);
  return reply.run;
}

async function makeRun(ask: Ask, wanted: WantedRun): Promise<FoundRun> {
  const { start, runName, ledger, signal } = wanted;
  const experimentId = await experimentOf(ask, wanted);
  if (ledger.abandoned !== null) {
    const body = { run_id: ledger.abandoned, status: "KILLED", end_time: Date.now() };
    await ask({ path: `${API}/runs/update`, body, signal }, nothing).catch(unlessRefused);
  }
  // An earlier request, whose reply was lost, may have created it.
  const search = {
    experiment_ids: [experimentId],
    filter: `tags.\`${TOKEN_TAG}\` = '${ledger.token}'`,
    max_results: 1,
  };
  const runs = z.object({ runs: z.array(runSchema).default([]) });
  const made = await ask({ path: `${API}/runs/search`, body: search, signal }, runs);
  if (made.runs[0] !== undefined) return made.runs[0];
  const body = {
    experiment_id: experimentId,
    run_name: runName,
    start_time: Date.now(),
    tags: [
      { key: TOKEN_TAG, value: ledger.token },
      { key: "agentrl.version", value: start.version },
      { key: "agentrl.recipe", value: start.recipe },
      { key: "agentrl.tier", value: start.tier },
    ],
  };
  const question = { path: `${API}/runs/create`, body, idempotent: false, signal };
  return (await ask(question, z.object({ run: runSchema }))).run;
}

async function experimentOf(ask: Ask, { experiment: name, signal }: WantedRun): Promise<string> {
  const get = {
    path: `${API}/experiments/get-by-name`,
    parameters: { experiment_name: name },
    signal,
  };
  const found = await ask(get, experimentSchema).catch(unlessMissing);
  if (found === null) {
    const create = { path: `${API}/experiments/create`, body: { name }, idempotent: false, signal };
    const made = await ask(create, z.object({ experiment_id: z.string() })).catch(unlessThere);
    return made?.experiment_id ?? (await ask(get, experimentSchema)).experiment.experiment_id;
  }
  const { experiment_id: id, lifecycle_stage: stage } = found.experiment;
  if (stage !== "deleted") return id;
  throw new Error(
    `mlflow: experiment "${name}" is deleted on the server. Restore it (mlflow experiments restore --experiment-id ${id}), or set reporters' experiment to another name.`,
  );
}

/** MLflow parameters cannot be changed: settings changed on resume go into tags. */
function settingsOf(found: FoundRun, { settings, afterStep }: RunStart): Batch {
  const known = new Map(found.data.params.map(({ key, value }) => [key, value]));
  const all = Object.entries(settings).map(([key, value]) => ({
    key: nameFor(key),
    value: paramText(settingText(value)),
  }));
  const changed = all.filter(({ key, value }) => (known.get(key) ?? value) !== value);
  return {
    params: all.filter(({ key }) => !known.has(key)),
    tags: changed.map(({ key, value }) => ({
      key: nameFor(`agentrl.changed.${key}`),
      value: tagText(`${value} after step ${afterStep}, before: ${known.get(key) ?? ""}`),
    })),
  };
}

function unlessMissing(error: unknown): null {
  if (error instanceof ServerRefusal && error.body.includes("RESOURCE_DOES_NOT_EXIST")) return null;
  throw error;
}

function unlessRefused(error: unknown): null {
  if (error instanceof ServerRefusal) return null;
  throw error;
}

function unlessThere(error: unknown): null {
  if (error instanceof ServerRefusal && error.body.includes("RESOURCE_ALREADY_EXISTS")) return null;
  throw error;
}
