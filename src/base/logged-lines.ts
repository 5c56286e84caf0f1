/** Rewriting of JSON-lines logs that need not fit into memory: only the keys of their lines are kept. */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { writeAtomic } from "./files.ts";
import { readJsonl } from "./jsonl.ts";

/** Leaves those lines of a log out that a test refuses, and a half-written last one. A log that is not there becomes an empty one. */
export async function filterLines(path: string, keep: (value: unknown) => boolean): Promise<void> {
  await writeAtomic(path, async (write) => {
    if (!existsSync(path)) return;
    for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
      if (keep(value)) await write(`${JSON.stringify(value)}\n`);
    }
  });
}

/**
 * Puts the lines of a log into an order.
 *
 * @param keyOf a line's key. Of equal keys the last line counts.
 * @param keys in their new order; lines of other keys are dropped.
 */
export async function orderLines(
  path: string,
  keyOf: (value: unknown) => string,
  keys: readonly string[],
): Promise<void> {
  const places = new Map<string, { start: number; length: number }>();
  let start = 0;
  for await (const { value } of readJsonl(path)) {
    // As it was written: the log's own lines are JSON without further white space.
    const length = Buffer.byteLength(JSON.stringify(value)) + 1;
    places.set(keyOf(value), { start, length });
    start += length;
  }
  const file = await open(path);
  try {
    await writeAtomic(path, async (write) => {
      for (const key of keys) {
        const place = places.get(key);
        if (place === undefined) continue;
        const line = Buffer.alloc(place.length);
        await file.read(line, 0, place.length, place.start);
        await write(line);
      }
    });
  } finally {
    await file.close();
  }
}
