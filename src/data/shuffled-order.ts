import { random } from "../base/random.ts";
import type { Task } from "../trajectory/task.ts";
import { type Dataset, streamed } from "./dataset.ts";

/**
 * The dataset's questions in a random order in which every beginning holds each type of question (`annotations.type`) in its share of the whole. Reads
 * the dataset twice: once for the types, once for the questions that are asked for, which it keeps in memory.
 *
 * @param seed same seed, same order.
 * @example 6 of type a and 3 of type b: a b a, a b a, a b a, each an a or b of its own
 */
export function inShuffledOrder(dataset: Dataset, seed: number): Dataset {
  return { ...dataset, ...streamed((limit) => shuffled(dataset, seed, limit)) };
}

async function* shuffled(
  dataset: Dataset,
  seed: number,
  limit: number,
): AsyncGenerator<Task, void, undefined> {
  const positions = new Map<string, number[]>();
  let count = 0;
  for await (const { annotations } of dataset.stream()) {
    const type = annotations.type ?? "";
    const own = positions.get(type) ?? [];
    own.push(count);
    positions.set(type, own);
    count += 1;
  }
  const order = spread(positions, seed).slice(0, limit);
  const wanted = new Set(order);
  const found = new Map<number, Task>();
  let position = 0;
  for await (const task of dataset.stream()) {
    if (wanted.has(position)) found.set(position, task);
    position += 1;
  }
  for (const each of order) {
    const task = found.get(each);
    if (task !== undefined) yield task;
  }
}

/** The i-th of n positions of a type, in the type's random order, stands at (i + ½) / n of the whole. */
function spread(positions: ReadonlyMap<string, readonly number[]>, seed: number): number[] {
  return [...positions]
    .flatMap(([type, own]) =>
      random(seed)
        .derive("questions", type)
        .shuffle(own)
        .map((position, i) => ({ position, place: (i + 0.5) / own.length })),
    )
    .toSorted((a, b) => a.place - b.place)
    .map(({ position }) => position);
}
