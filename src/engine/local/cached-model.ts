import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ByteType } from "../../autodiff/ops/quantised.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { HOST_INPUTS, hostSamplingGraph } from "../../models/host-sampling-graph.ts";
import { CACHE_STEP } from "../../models/sampling-graph.ts";
import { type Session, type Tensor, floats, tensorOf, zeros } from "../../onnx/session.ts";
import {
  type CachedModel,
  type CachedModelOptions,
  inverseTemperatures,
  type PickedToken,
} from "./cached-steps.ts";
import { kvCache, ROW_GROUPS } from "./kv-cache.ts";
import { type ModelWeights, packsForSampling } from "./model-weights.ts";
import { pickToken } from "./pick-token.ts";
import { residentModel } from "./resident-model.ts";
import { exactByteType, int8Constants, packedConstants } from "./sampling-constants.ts";

/** Rows of the smallest step: products of fewer rows take other kernels, whose sums differ in the last bits. */
const FEWEST_ROWS = 8;
/** A step has a multiple of this many rows: with every number, sequences would move at every end of one. */
const ROW_STEP = 4;

/** Sequences held for each that is decoded: those that wait for their environment leave their rows to others. */
export const HELD_PER_ROW = 2;

/** Tokens of a prompt in one run: more are no faster. */
export const LONGEST_CHUNK = 256;

/** Creates the decoder's cache in the memory of the device. */
export async function cachedModel(
  config: DecoderConfig,
  weights: ModelWeights,
  options: CachedModelOptions,
): Promise<CachedModel> {
  if (options.device.resident) return residentModel(config, weights, options);
  const { weights: form = "float32", device } = options;
  const int8 =
    form === "float32" ? null : form === "int8" ? await exactByteType(device) : form.type;
  return hostModel(config, weights, { ...options, int8 });
}

interface Run {
  ids: Int32Array;
  filled: readonly number[];
  /** What the cache feeds. */
  cache: Readonly<Record<string, Tensor>>;
  /** Indices of tokens whose successors are wanted, with 1 / temperature each. */
  sampled: Int32Array;
  inverseTemperature: Tensor;
}

/** A cache in host memory: one graph reads it, this code writes it and draws the tokens. */
function hostModel(
  config: DecoderConfig,
  weights: ModelWeights,
  { device, slots, int8 }: CachedModelOptions & { int8: ByteType | null },
): CachedModel {
  const { vocabSize } = config;
  const held = HELD_PER_ROW * slots;
  const cache = kvCache(config, { slots: held, chunk: LONGEST_CHUNK });
  const { lora, transposed, frozen } = weights;
  const packed = int8 !== null || packsForSampling(weights, device);
  const groups = Array.from({ length: ROW_GROUPS }, () => ({ rows: slots, capacity: CACHE_STEP }));
  const example = { groups, chunk: 1, sampled: ROW_GROUPS * slots };
  const built = hostSamplingGraph(config, example, { lora, transposed, frozen, packed, int8 });
  const stored =
    int8 === null
      ? packedConstants(built.constants, weights)
      : int8Constants(config, weights, device, int8);
  const compile = async (): Promise<Session> => {
    const constants = await stored.numbers();
    return device.compile(built.graph, built.outputs, { constants, arena: packed });
  };
  let session: Promise<Session> | null = null;
  let adapters: ReturnType<typeof stored.adapters> | null = null;
  const release = async (): Promise<void> => {
    const held = session;
    session = null;
    await (await held)?.release();
  };
  let isOutdated = false;
  const rowCounts = rowCountsOf(slots);
  const probabilities = new Map(
    rowCounts.map((rows) => [rows, zeros("float32", [rows, vocabSize])] as const),
  );
  const nothing = zeros("float32", [0, vocabSize]);

  async function run(given: Run, into: Tensor): Promise<Record<string, Tensor>> {
    if (isOutdated) await release();
    isOutdated = false;
    session ??= compile();
    const { filled, ids, sampled } = given;
    const [rows, chunk] = [filled.length, ids.length / filled.length];
    const steps = Int32Array.from({ length: chunk }, (_, at) => at);
    const positions = ids.map((_, i) => filled[Math.floor(i / chunk)]! + (i % chunk));
    const pair = (a: number, b: number): Tensor =>
      tensorOf(BigInt64Array.of(BigInt(a), BigInt(b)), [2]);
    adapters ??= stored.adapters();
    const feeds = {
      ...weights.feeds,
      ...(await adapters),
      ...given.cache,
      [HOST_INPUTS.ids]: tensorOf(ids, [ids.length]),
      [HOST_INPUTS.positions]: tensorOf(positions, [ids.length]),
      [HOST_INPUTS.shape]: pair(rows, chunk),
      [HOST_INPUTS.filled]: tensorOf(Int32Array.from(filled), [rows]),
      [HOST_INPUTS.steps]: tensorOf(steps, [chunk]),
      [HOST_INPUTS.sampled]: tensorOf(sampled, [sampled.length]),
      [HOST_INPUTS.inverseTemperature]: given.inverseTemperature,
    };
    return (await session).run(feeds, { probabilities: into });
  }

  const clear = (): void => collectGarbage(cache.clear());
  return {
    slots: held,
    rows: slots,
    async fill(slot, given, from) {
      for (let done = 0; done < given.length; done += LONGEST_CHUNK) {
        const ids = Int32Array.from(given.slice(done, done + LONGEST_CHUNK));
        const at = from + done;
        const tokens = { at, chunk: ids.length, room: from + given.length };
        const prompt: Run = {
          ids,
          filled: [at],
          cache: cache.alone(slot, tokens),
          sampled: new Int32Array(0),
          inverseTemperature: tensorOf(new Float32Array(0), [0, 1]),
        };
        const results = await run(prompt, nothing);
        cache.write(results, { row: 0, slot, at });
      }
    },
    clear() {
      clear();
      return Promise.resolve();
    },
    async rest() {
      clear();
      // Packed matrices are a second copy of the weights, made again within seconds.
      if (packed) await release();
    },
    weightsChanged() {
      // Frozen weights under adapters never change.
      isOutdated = packed && lora === null;
      adapters = null;
    },
    copy(from, to, count) {
      cache.copy(from, to, count);
      return Promise.resolve();
    },
    async step(newest) {
      const rows = rowCounts.find((count) => count >= newest.length)!;
      const drawn = probabilities.get(rows)!;
      const { feeds, order } = cache.together(newest, rows);
      const inRows = order.map((index) => (index === null ? null : newest[index]!));
      const given: Run = {
        ids: Int32Array.from(inRows, (each) => each?.id ?? 0),
        filled: inRows.map((each) => each?.position ?? 0),
        cache: feeds,
        sampled: Int32Array.from({ length: rows }, (_, row) => row),
        inverseTemperature: inverseTemperatures(inRows),
      };
      const results = await run(given, drawn);
      const all = floats(drawn);
      const picked: PickedToken[] = [];
      inRows.forEach((each, row) => {
        if (each === null) return;
        cache.write(results, { row, slot: each.slot, at: each.position });
        picked[order[row]!] = pickToken(all, row * vocabSize, vocabSize, each.pick, each.stream);
      });
      return picked;
    },
  };
}

/** Numbers of rows that a step can compute, ascending: a row has the same bits in each. */
function rowCountsOf(slots: number): number[] {
  const counts = [slots];
  for (let rows = FEWEST_ROWS; rows < slots; rows += ROW_STEP) counts.splice(-1, 0, rows);
  return counts;
}

const WORTH_BYTES = 128e6;

/** Frees garbage arrays of `bytes` at once: V8 does not see what the runtime allocates next, so gigabytes would stay. */
function collectGarbage(bytes: number): void {
  if (bytes < WORTH_BYTES) return;
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
