import { microBatches, type MicroBatch } from "../../engine/local/batching.ts";
import { keptGraphs } from "../../engine/local/compiled.ts";
import type { GraphKind, HeldGraph } from "../../engine/local/forecast.ts";
import type { TrainingRow } from "../../engine/engine.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { parameterCount } from "../../models/parameters.ts";
import type { SequenceShape } from "./trajectory-shape.ts";

/** Seconds that learning takes on a machine, by what it does. */
export interface TrainingSpeed {
  /** A unit of `computed`, forward and backward, on one of all workers. */
  learn: number;
  /** A unit forward alone. */
  score: number;
  /** A graph before its first run, each of the two kinds. */
  compile: { learn: number; score: number };
  /** One step of the optimiser. */
  optimizer: number;
}

/** How a batch is gone through. */
export interface TrainingSetting {
  config: DecoderConfig;
  workers: number;
  microBatchTokens: number;
  epochs: number;
  minibatches: number;
  /** Times that log-probabilities of the whole batch are computed before it is learned from. */
  scorings: number;
  /** Whether tokens that the policy did not write are scored as well. */
  scoresAll: boolean;
}

/** Compiled graphs of a worker by their shapes, the one not asked for longest first. */
export type CompiledGraphs = Map<string, HeldGraph>;

/** What an update is made of: work of the busiest worker, and graphs that it compiles. */
export interface UpdateWork {
  learned: number;
  scored: number;
  compiled: { learn: number; score: number };
  optimizerSteps: number;
}

/**
 * Goes through an update as the engine would, without computing anything.
 * @param graphs of each worker; changed.
 */
export function updateWork(
  sequences: readonly SequenceShape[],
  setting: TrainingSetting,
  graphs: readonly CompiledGraphs[],
): UpdateWork {
  const { epochs, minibatches, scorings } = setting;
  const total: UpdateWork = {
    ...{ learned: 0, scored: 0, compiled: { learn: 0, score: 0 } },
    optimizerSteps: epochs * minibatches,
  };
  const rows = sequences.map((each) => rowOf(each, setting.scoresAll));
  for (let i = 0; i < scorings; i++) {
    const { units, compiled } = pass(rows, "score", setting, graphs);
    total.scored += units;
    total.compiled.score += compiled;
  }
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let part = 0; part < minibatches; part++) {
      const own = rows.filter((_, i) => i % minibatches === part);
      const { units, compiled } = pass(own, "learn", setting, graphs);
      total.learned += units;
      total.compiled.learn += compiled;
    }
  }
  return total;
}

/** Seconds of an update. */
export function updateSeconds(work: UpdateWork, speed: TrainingSpeed): number {
  const { learned, scored, compiled, optimizerSteps } = work;
  return (
    speed.learn * learned +
    speed.score * scored +
    speed.compile.learn * compiled.learn +
    speed.compile.score * compiled.score +
    speed.optimizer * optimizerSteps
  );
}

/**
 * A sequence as the engine is given it, with zeros for all that its numbers do not depend on.
 * @param fields that the loss reads beside the weights.
 */
export function rowOf(
  { tokens, written }: SequenceShape,
  scoresAll: boolean,
  fields: readonly string[] = [],
): TrainingRow {
  const length = Math.max(1, tokens - 1);
  const zeros = new Array<number>(length).fill(0);
  // Which tokens are scored does not matter, but how many.
  const from = scoresAll ? 0 : length - Math.min(written, length);
  const weights = zeros.map((_, i) => (i < from ? 0 : 1 / length));
  const named = fields.filter((name) => name !== "weights").map((name) => [name, zeros] as const);
  return { inputs: zeros, targets: zeros, fields: { ...Object.fromEntries(named), weights } };
}

/** All micro-batches of some rows. @returns work and newly compiled graphs of the busiest worker. */
function pass(
  rows: readonly TrainingRow[],
  kind: GraphKind,
  { config, workers, microBatchTokens }: TrainingSetting,
  graphs: readonly CompiledGraphs[],
): { units: number; compiled: number } {
  const batches = microBatches(rows, microBatchTokens, workers);
  const most = keptGraphs(config).training;
  const each = graphs.map((own, w) => {
    let units = 0;
    let compiled = 0;
    for (const batch of batches.filter((_, i) => i % workers === w)) {
      units += computed(config, batch);
      const key = [kind, batch.batch, batch.length, batch.scored].join(" ");
      if (!own.delete(key)) compiled += 1;
      own.set(key, { kind, length: batch.length });
      const [oldest] = own.keys();
      if (own.size > most && oldest !== undefined) own.delete(oldest);
    }
    return { units, compiled };
  });
  return {
    units: Math.max(0, ...each.map(({ units }) => units)),
    compiled: Math.max(0, ...each.map(({ compiled }) => compiled)),
  };
}

/** Multiplications of a forward run through a micro-batch: matrices, attention, and scores of the vocabulary. */
function computed(config: DecoderConfig, { batch, length, scored }: MicroBatch): number {
  const { vocabSize, hiddenSize, layers, heads, headDim, tiedEmbeddings } = config;
  const embeddings = (tiedEmbeddings ? 1 : 2) * vocabSize * hiddenSize;
  const tokens = batch * length;
  const matrices = tokens * (parameterCount(config) - embeddings);
  const attention = 2 * layers * heads * headDim * tokens * length;
  return matrices + attention + scored * vocabSize * hiddenSize;
}
