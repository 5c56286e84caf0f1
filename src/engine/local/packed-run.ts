import { InternalError } from "../../base/errors.ts";
import { PLACES } from "../../losses/loss.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { rotaryAngles } from "../../models/rope.ts";
import { floats, tensorOf, type Tensor } from "../../onnx/session.ts";
import { isScored, TEMPERATURES, type TrainingRow } from "../engine.ts";
import type { MicroBatch } from "./batching.ts";
import { common } from "./shared-order.ts";
import { FIELD, INVERSE_TEMPERATURE, TREE } from "./training-graph.ts";

/** A scored target. */
export interface Place {
  row: number;
  token: number;
}

/** Whether some target of a run has another temperature than 1. */
export function isTempered(
  rows: readonly TrainingRow[],
  { rows: members }: Pick<MicroBatch, "rows">,
): boolean {
  return members.some((index) => rows[index]?.fields[TEMPERATURES] !== undefined);
}

type Feeds = Record<string, Tensor>;

/** Puts a run's rows into the inputs of its graph. */
export type Packer = (
  rows: readonly TrainingRow[],
  micro: MicroBatch,
  graph: {
    /** Places of a row, and scored targets; those beyond the run's own have weight 0. */
    length: number;
    scored: number;
    inputNames: readonly string[];
  },
) => { feeds: Feeds; places: Place[] };

/** A packer for a model's rows, which keeps its tables of positions. */
export function packer(config: DecoderConfig): Packer {
  const half = config.headDim / 2;
  let tables = { positions: 0, cos: new Float32Array(), sin: new Float32Array() };
  const tablesOf = (length: number): Feeds => {
    if (length > tables.positions) {
      const angles = rotaryAngles(config, length);
      const [cos, sin] = [Math.cos, Math.sin].map((of) => Float32Array.from(angles, of));
      tables = { positions: length, cos: cos!, sin: sin! };
    }
    const table = (numbers: Float32Array): Tensor =>
      tensorOf(numbers.subarray(0, length * half), [length, half]);
    return { [TREE.cos]: table(tables.cos), [TREE.sin]: table(tables.sin) };
  };
  return (rows, micro, { length, scored, inputNames }) => {
    const tree = treeOf(rows, micro, length);
    const targets = targetsOf(rows, micro, { scored, inputNames, tokens: tree.tokens });
    return {
      feeds: {
        ...tree.feeds,
        ...tablesOf(length),
        [TREE.steps]: counted(length, [length]),
        ...targets.feeds,
      },
      places: targets.places,
    };
  };
}

/** Float32: 0, 1, 2, … */
export function counted(count: number, shape: readonly number[]): Tensor {
  return tensorOf(
    Float32Array.from({ length: count }, (_, i) => i),
    shape,
  );
}

/** Numbers the distinct tokens of the rows. @returns also the tokens of each row. */
function treeOf(
  rows: readonly TrainingRow[],
  { rows: members, tokens: count }: MicroBatch,
  length: number,
): { feeds: Feeds; tokens: Int32Array[] } {
  const ids = new Int32Array(count);
  const positions = new Int32Array(count);
  const places = new Int32Array(count);
  const paths = new Int32Array(members.length * length);
  let next = 0;
  let before: readonly number[] = [];
  const tokens = members.map((index, at) => {
    const { inputs } = rows[index]!;
    const path = paths.subarray(at * length, at * length + inputs.length);
    const shared = common(before, inputs);
    if (shared > 0) path.set(paths.subarray((at - 1) * length, (at - 1) * length + shared));
    for (let i = shared; i < inputs.length; i++) {
      ids[next] = inputs[i]!;
      positions[next] = i;
      places[next] = at * length + i;
      path[i] = next;
      next += 1;
    }
    before = inputs;
    return path;
  });
  return {
    feeds: {
      ids: tensorOf(ids, [count]),
      [TREE.positions]: tensorOf(positions, [count]),
      [TREE.places]: tensorOf(places, [count]),
      [TREE.paths]: tensorOf(paths, [paths.length]),
    },
    tokens,
  };
}

/** Scored targets with their fields, row by row. Those that fill up to `scored` have target 0, token 0, and 0 in every field. */
function targetsOf(
  rows: readonly TrainingRow[],
  { rows: members }: MicroBatch,
  {
    scored,
    inputNames,
    tokens,
  }: { scored: number; inputNames: readonly string[]; tokens: readonly Int32Array[] },
): { feeds: Feeds; places: Place[] } {
  const names = inputNames
    .filter((name) => name.startsWith(FIELD))
    .map((name) => name.slice(FIELD.length));
  const at = new Int32Array(scored);
  const targets = new Int32Array(scored);
  const fields = names.map(() => new Float32Array(scored));
  const inverse = new Float32Array(scored).fill(1);
  const places: Place[] = [];
  members.forEach((index, m) => {
    const row = rows[index]!;
    const lacking = names.find((name) => row.fields[name]?.length !== row.targets.length);
    if (lacking !== undefined) {
      const message = `row ${index}: field "${lacking}" has ${row.fields[lacking]?.length ?? "no"} values for ${row.targets.length} targets; the loss reads ${names.join(", ")}.`;
      throw new InternalError("LOSS_FIELD_MISSING", message);
    }
    row.targets.forEach((target, token) => {
      if (!isScored(row, token)) return;
      const k = places.length;
      at[k] = tokens[m]![token]!;
      targets[k] = target;
      names.forEach((name, f) => (fields[f]![k] = row.fields[name]![token]!));
      inverse[k] = 1 / (row.fields[TEMPERATURES]?.[token] ?? 1);
      places.push({ row: index, token });
    });
  });
  const column = [scored, 1];
  const all: Feeds = {
    [TREE.scored]: tensorOf(at, [scored]),
    targets: tensorOf(targets, column),
    [PLACES]: counted(scored, column),
    [INVERSE_TEMPERATURE]: tensorOf(inverse, column),
  };
  names.forEach((name, f) => (all[FIELD + name] = tensorOf(fields[f]!, column)));
  return { feeds: all, places };
}

/** Puts numbers of scored targets at their places in rows. */
export function unpack(
  scores: Tensor,
  places: readonly Place[],
  into: readonly Float32Array[],
): void {
  const data = floats(scores);
  places.forEach(({ row, token }, k) => (into[row]![token] = data[k]!));
}
