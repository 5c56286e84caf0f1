import { Graph, scalarLike, type Value } from "../../autodiff/graph.ts";
import { gather, scatterNd } from "../../autodiff/ops/indexing.ts";
import { castTo } from "../../autodiff/ops/elementwise.ts";
import { concat, expand, reshape } from "../../autodiff/ops/shape.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { CACHE_STEP, cacheNames, samplingGraph } from "../../models/sampling-graph.ts";
import { floats, tensorOf, type Session, type Tensor } from "../../onnx/session.ts";
import {
  type CachedModel,
  type CachedModelOptions,
  capacityFor,
  inverseTemperatures,
  type NewestToken,
  type PickedToken,
  pieces,
  tokenFeeds,
} from "./cached-steps.ts";
import { compiled, mostGraphs } from "./compiled.ts";
import type { ModelWeights } from "./model-weights.ts";
import { isPlainPick, pickToken } from "./pick-token.ts";

/** Chunk sizes of prefill: larger than on a CPU, because small runs leave a GPU idle. */
const CHUNKS = [16, 64, 128, 256, 512] as const;

/** A cache in device memory: only tokens and log-probabilities are transferred, and the row of probabilities for top-k, top-p, min-p, bias. */
export async function residentModel(
  config: DecoderConfig,
  weights: ModelWeights,
  { device, slots }: CachedModelOptions,
): Promise<CachedModel> {
  const { vocabSize } = config;
  const once = compiled(mostGraphs.sampling);
  /** Positions in use per slot; the row of an idle slot writes, like every row, to the next position. */
  const held = new Array<number>(slots).fill(0);
  let cache = await residentCache(CACHE_STEP);

  async function residentCache(capacity: number): Promise<ResidentCache> {
    const tensors: Record<string, Tensor> = {};
    for (const [name, shape] of Object.entries(cacheShapes(config, slots, capacity)))
      tensors[name] = await device.zeros(shape);
    return { capacity, tensors };
  }

  async function makeRoom(positions: number): Promise<void> {
    if (positions <= cache.capacity) return;
    const old = cache;
    cache = await residentCache(capacityFor(positions));
    const graph = growingGraph(config, slots, { from: old.capacity, to: cache.capacity });
    const session = await device.compile(graph.graph, graph.outputs);
    await session.run(old.tensors, nextOf(cache.tensors));
    await session.release();
    dispose(old);
  }

  const session = (
    rows: number,
    chunk: number,
    gives: "probabilities" | "picks" | "nothing",
  ): Promise<Session> => {
    const { capacity } = cache;
    return once([rows, chunk, gives, capacity].join(), () => {
      const { lora, transposed, frozen } = weights;
      const shape = { rows, chunk, capacity, slots };
      const layout = { transposed, frozen };
      const { graph, outputs } = samplingGraph(config, shape, { gives, lora, ...layout });
      return device.compile(graph, outputs);
    });
  };

  const run = (
    ready: Session,
    feeds: Readonly<Record<string, Tensor>>,
    rows: { slots: readonly number[]; written: Int32Array },
  ): Promise<Record<string, Tensor>> => {
    const count = rows.slots.length;
    return ready.run(
      {
        ...weights.feeds,
        ...cache.tensors,
        ...feeds,
        slot: tensorOf(Int32Array.from(rows.slots), [count]),
        written: tensorOf(rows.written, [count, rows.written.length / count]),
      },
      nextOf(cache.tensors),
    );
  };

  async function clear(): Promise<void> {
    held.fill(0);
    if (cache.capacity === CACHE_STEP) return;
    dispose(cache);
    cache = await residentCache(CACHE_STEP);
  }

  return {
    slots,
    rows: slots,
    async fill(slot, given, from) {
      for (const { ids, count, at } of pieces(given, from, CHUNKS)) {
        await makeRoom(at + ids.length);
        const ready = await session(1, ids.length, "nothing");
        const written = Int32Array.from(ids, (_, i) => at + i);
        await run(ready, tokenFeeds(ids, [at]), { slots: [slot], written });
        held[slot] = at + count;
      }
    },
    weightsChanged() {
      // Graphs read the weights where training writes them.
    },
    clear,
    rest: clear,
    async copy(from, to, count) {
      const { capacity } = cache;
      const ready = await once(`copy ${capacity}`, () => {
        const { graph, outputs } = copyingGraph(config, slots, capacity);
        return device.compile(graph, outputs);
      });
      const index = (slot: number): Tensor => tensorOf(Int32Array.of(slot), [1]);
      const feeds = { ...cache.tensors, from: index(from), to: index(to) };
      await ready.run(feeds, nextOf(cache.tensors));
      held[to] = count;
    },
    async step(newest) {
      const bySlot = Array.from({ length: slots }, (): NewestToken | null => null);
      for (const each of newest) {
        bySlot[each.slot] = each;
        held[each.slot] = each.position;
      }
      await makeRoom(Math.max(...held) + 1);
      const gives = newest.every(({ pick }) => isPlainPick(pick)) ? "picks" : "probabilities";
      const ready = await session(slots, 1, gives);
      const ids = Int32Array.from(bySlot, (each) => each?.id ?? 0);
      const positions = bySlot.map((each) => each?.position ?? -1);
      const results = await run(
        ready,
        {
          ...tokenFeeds(ids, positions),
          inverseTemperature: inverseTemperatures(bySlot),
          ...(gives === "picks" ? drawFeeds(bySlot) : {}),
        },
        { slots: bySlot.map((_, slot) => slot), written: Int32Array.from(held) },
      );
      for (const { slot, position } of newest) held[slot] = position + 1;
      return newest.map((each) => picked(results, each));
    },
  };

  function picked(results: Record<string, Tensor>, each: NewestToken): PickedToken {
    const { slot } = each;
    const { id, logprob, probabilities } = results;
    if (probabilities !== undefined) {
      const all = floats(probabilities);
      return pickToken(all, slot * vocabSize, vocabSize, each.pick, each.stream);
    }
    return { id: (id!.data as Int32Array)[slot]!, logprob: floats(logprob!)[slot]! };
  }
}

type ResidentCache = { capacity: number; tensors: Record<string, Tensor> };

function dispose({ tensors }: ResidentCache): void {
  for (const tensor of Object.values(tensors)) tensor.dispose();
}

/** A random number per slot; a greedy draw takes none from its stream, as on the host. */
function drawFeeds(newest: readonly (NewestToken | null)[]): Record<string, Tensor> {
  const greedy = Float32Array.from(newest, (each) => (each?.pick.temperature === 0 ? 1 : 0));
  const uniform = Float32Array.from(newest, (each, slot) =>
    each === null || greedy[slot] === 1 ? 0 : each.stream.next(),
  );
  const shape = [newest.length, 1];
  return { uniform: tensorOf(uniform, shape), greedy: tensorOf(greedy, shape) };
}

/** Caches as fetches, so that each is written in place. */
function nextOf(caches: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(caches).map(([name, tensor]) => [`${name}.next`, tensor]),
  );
}

function cacheShapes(
  { layers, kvHeads, headDim }: DecoderConfig,
  slots: number,
  capacity: number,
): Record<string, number[]> {
  const shapes: Record<string, number[]> = {};
  for (let layer = 0; layer < layers; layer++) {
    const { key, value } = cacheNames(layer);
    shapes[key] = [slots, kvHeads, headDim, capacity];
    shapes[value] = [slots, kvHeads, capacity, headDim];
  }
  return shapes;
}

type BuiltGraph = { graph: Graph; outputs: Record<string, Value> };

function growingGraph(
  config: DecoderConfig,
  slots: number,
  { from, to }: { from: number; to: number },
): BuiltGraph {
  const graph = new Graph();
  const outputs: Record<string, Value> = {};
  const longer = cacheShapes(config, slots, to);
  for (const [name, shape] of Object.entries(cacheShapes(config, slots, from))) {
    const axis = shape.findIndex((n, i) => n !== longer[name]![i]);
    const old = graph.input(name, "float32", shape);
    const gap = shape.map((n, i) => (i === axis ? to - from : n));
    outputs[`${name}.next`] = concat([old, expand(scalarLike(old, 0), gap)], { axis });
  }
  return { graph, outputs };
}

function copyingGraph(config: DecoderConfig, slots: number, capacity: number): BuiltGraph {
  const graph = new Graph();
  const from = graph.input("from", "int32", [1]);
  const to = castTo(reshape(graph.input("to", "int32", [1]), [1, 1]), "int64");
  const outputs: Record<string, Value> = {};
  for (const [name, shape] of Object.entries(cacheShapes(config, slots, capacity))) {
    const cache = graph.input(name, "float32", shape);
    outputs[`${name}.next`] = scatterNd([cache, to, gather([cache, from])]);
  }
  return { graph, outputs };
}
