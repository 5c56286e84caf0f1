/** Rewrites JSON-lines logs that may exceed memory: keeps only the keys of the lines in memory. */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { writeAtomic } from "./files.ts";
import { readJsonl } from "./jsonl.ts";

/** Removes the lines that fail a test, and a half-written last line. A missing log becomes an empty one. */
export async function filterLines(path: string, keep: (value: unknown) => boolean): Promise<void> {
  await writeAtomic(path, async (write) => {
    if (!existsSync(path)) return;
    for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
      if (keep(value)) await write(`${JSON.stringify(value)}\n`);
    }
  });
}

/** Sorts the lines of a log into the order of `keys` and drops others; the last line of a key wins. */
export async function orderLines(
  path: string,
  keyOf: (value: unknown) => string,
  keys: readonly string[],
): Promise<void> {
  const places = new Map<string, { start: number; length: number }>();
  let start = 0;
  for await (const { value } of readJsonl(path)) {
    // agentrl writes log lines as JSON without extra white space, so the length is exact.
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
