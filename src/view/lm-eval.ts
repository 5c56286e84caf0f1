import { createHash } from "node:crypto";
import { join } from "node:path";
import { sha256, writeAtomic, writeJson } from "../base/files.ts";
import { rowValue } from "./score-groups.ts";
import { policyLabel } from "../evaluate/policy-label.ts";
import { type Decode, promptText } from "../trajectory/trajectory.ts";
import { type ResultFiles, type ScoredTrajectory, scoredTrajectories } from "./results-files.ts";
import type { Results } from "./results-schema.ts";
import { requireRows } from "./rows-text.ts";

/** Options of an export. */
export interface LmEvalOptions {
  /** Time in the names of the files. */
  time: Date;
  /** Decodes the prompts in samples; without it the question is used. */
  decode: Decode | null;
  /** Of this package. */
  version: string;
}

/**
 * Writes results in the layout of EleutherAI's lm-evaluation-harness: `<folder>/<model>/results_<time>.json` and
 * `samples_<task>_<time>.jsonl`, for programs that read its outputs. The task is the dataset's name, its version our fingerprint.
 *
 * Different here: no durations, because an evaluation's files have none (`null`); several draws of a question are several `resps` of one
 * sample, whose metrics are their means; a sample that failed has the metric null.
 *
 * @returns the files written, results first.
 * @throws {DataError} FILE_MISSING without rows.jsonl. @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeLmEval(
  folder: string,
  files: ResultFiles,
  { time, decode, version }: LmEvalOptions,
): Promise<string[]> {
  requireRows(files);
  const { results } = files;
  const stamp = time.toISOString().replaceAll(":", "-").replace("Z", "");
  const task = fileName(results.dataset);
  const model = join(
    folder,
    fileName(results.policy.from === undefined ? files.name : policyLabel(results.policy)),
  );
  const paths = [
    join(model, `results_${stamp}.json`),
    join(model, `samples_${task}_${stamp}.jsonl`),
  ];
  const metrics = Object.keys(results.intervals);
  const moments = new Map(metrics.map((metric) => [metric, runningMoments()]));
  const taskHash = createHash("sha256");
  await writeAtomic(paths[1] ?? "", async (write) => {
    let docId = 0;
    for await (const draws of questions(files)) {
      const sample = sampleOf(draws, { docId: docId++, metrics, decode });
      taskHash.update(`${sample.doc_hash}${sample.prompt_hash}${sample.target_hash}`);
      for (const [metric, { add }] of moments) {
        const value = (sample as unknown as Record<string, unknown>)[metric];
        if (typeof value === "number") add(value);
      }
      await write(`${JSON.stringify(sample)}\n`);
    }
  });
  const errors = new Map([...moments].map(([metric, { error }]) => [metric, error()]));
  const summary = summaryOf(results, {
    task,
    metrics,
    errors,
    taskHash: taskHash.digest("hex"),
    time,
    version,
  });
  await writeJson(paths[0] ?? "", summary);
  return paths;
}

/** Groups the draws of a question; each is held only until the last one comes. */
async function* questions(files: ResultFiles): AsyncGenerator<ScoredTrajectory[]> {
  const { samplesPerTask } = files.results;
  const waiting = new Map<string, ScoredTrajectory[]>();
  for await (const scored of scoredTrajectories(files)) {
    const { id } = scored.row;
    const draws = [...(waiting.get(id) ?? []), scored];
    if (draws.length < samplesPerTask) waiting.set(id, draws);
    else {
      waiting.delete(id);
      yield draws.sort((a, b) => a.row.sample - b.row.sample);
    }
  }
  yield* waiting.values();
}

/** A line of the samples file. */
interface LmEvalSample {
  doc_id: number;
  doc: Record<string, unknown>;
  target: string;
  arguments: { gen_args_0: { arg_0: string; arg_1: string } };
  resps: string[][];
  filtered_resps: string[];
  filter: "none";
  metrics: readonly string[];
  doc_hash: string;
  prompt_hash: string;
  target_hash: string;
}

function sampleOf(
  draws: readonly ScoredTrajectory[],
  given: { docId: number; metrics: readonly string[]; decode: Decode | null },
): LmEvalSample {
  const [first] = draws;
  const { id = "", question = "", references = [], hops, type } = first?.row ?? {};
  const doc = { id, question, references, hops: hops ?? null, type: type ?? null };
  const trajectory = first?.trajectory ?? null;
  const prompt = (trajectory === null ? null : promptText(trajectory, given.decode)) ?? question;
  const target = references[0] ?? "";
  return {
    doc_id: given.docId,
    doc,
    target,
    arguments: { gen_args_0: { arg_0: prompt, arg_1: "{}" } },
    resps: [draws.map(({ row, trajectory: own }) => responseText(own) ?? row.answer ?? "")],
    filtered_resps: draws.map(({ row }) => row.answer ?? ""),
    filter: "none",
    metrics: given.metrics,
    doc_hash: sha256(JSON.stringify(doc, null, 2)),
    prompt_hash: sha256(prompt),
    target_hash: sha256(target),
    ...Object.fromEntries(given.metrics.map((metric) => [metric, meanOf(draws, metric)])),
  };
}

/** The policy's messages, joined. */
function responseText(trajectory: ScoredTrajectory["trajectory"]): string | null {
  return trajectory === null ? null : trajectory.turns.map(({ text }) => text).join("\n");
}

function meanOf(draws: readonly ScoredTrajectory[], metric: string): number | null {
  const values = draws.map(({ row }) => rowValue(row, metric)).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function summaryOf(
  results: Results,
  given: {
    task: string;
    metrics: readonly string[];
    errors: ReadonlyMap<string, number | null>;
    taskHash: string;
    time: Date;
    version: string;
  },
): Record<string, unknown> {
  const { n, metrics, samplesPerTask, protocol, policy, fingerprint, seed } = results;
  const { task, errors } = given;
  const model = policy.from === undefined ? "" : policyLabel(policy);
  const { prompt = "", sampling = {} } = protocol;
  const scores = given.metrics.flatMap((metric) => [
    [`${metric},none`, metrics[metric] ?? null],
    [`${metric}_stderr,none`, errors.get(metric) ?? "N/A"],
  ]);
  const others = Object.entries(metrics)
    .filter(([metric]) => !given.metrics.includes(metric))
    .flatMap(([metric, value]) => [
      [`${metric},none`, value],
      [`${metric}_stderr,none`, "N/A"],
    ]);
  const of = <T>(value: T): Record<string, T> => ({ [task]: value });
  return {
    results: of({ alias: task, ...Object.fromEntries([...scores, ...others]) }),
    groups: {},
    group_subtasks: of([]),
    configs: of({
      task,
      dataset_path: results.dataset,
      output_type: "generate_until",
      doc_to_text: prompt,
      num_fewshot: 0,
      repeats: samplesPerTask,
      metric_list: given.metrics.map((metric) => ({
        metric,
        aggregation: "mean",
        higher_is_better: true,
      })),
      generation_kwargs: sampling,
      metadata: { version: fingerprint, protocol },
    }),
    versions: of(fingerprint),
    "n-shot": of(0),
    higher_is_better: of(Object.fromEntries(given.metrics.map((metric) => [metric, true]))),
    "n-samples": of({ original: n, effective: n }),
    config: {
      model: "agentrl",
      model_args: `pretrained=${model}`,
      batch_size: null,
      device: null,
      batch_sizes: [],
      use_cache: null,
      limit: null,
      bootstrap_iters: 2000,
      gen_kwargs: sampling,
      random_seed: seed,
      numpy_seed: seed,
      torch_seed: seed,
      fewshot_seed: seed,
    },
    git_hash: null,
    date: given.time.getTime() / 1000,
    pretty_env_info: `agentrl ${given.version}`,
    task_hashes: of(given.taskHash),
    model_source: "agentrl",
    model_name: model,
    model_name_sanitized: fileName(model),
    system_instruction: null,
    system_instruction_sha: null,
    fewshot_as_multiturn: null,
    chat_template: null,
    chat_template_sha: null,
    start_time: null,
    end_time: null,
    total_evaluation_time_seconds: null,
  };
}

/** Running mean and standard error (Welford). */
function runningMoments(): { add: (value: number) => void; error: () => number | null } {
  let [count, mean, squares] = [0, 0, 0];
  return {
    add(value) {
      count += 1;
      const off = value - mean;
      mean += off / count;
      squares += off * (value - mean);
    },
    error: () => (count < 2 ? null : Math.sqrt(squares / (count - 1) / count)),
  };
}

/** A name as the harness writes it in paths; also replaces names of only dots. @example fileName("org/model") // "org__model" */
function fileName(name: string): string {
  return name.replace(/["<>:/|\\?*[\]]+|^\.*$/g, "__");
}
