import { z } from "../base/schema.ts";
import type { Task } from "../trajectory/task.ts";

/** One part of the questions: every fifth is held out, the others are for training. Default: all. */
export const questionPart = z.enum(["train", "held-out"]).optional();

/** Of five questions in a row, the last is held out. */
const HELD_OUT_EVERY = 5;

export async function* partOf(
  all: AsyncIterable<Task>,
  part: z.output<typeof questionPart>,
  limit: number,
): AsyncGenerator<Task> {
  let [number, taken] = [0, 0];
  if (limit <= 0) return;
  for await (const task of all) {
    number += 1;
    const isHeldOut = number % HELD_OUT_EVERY === 0;
    if (part !== undefined && isHeldOut !== (part === "held-out")) continue;
    yield task;
    taken += 1;
    if (taken >= limit) return;
  }
}
