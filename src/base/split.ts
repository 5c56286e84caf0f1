import { sha256 } from "./files.ts";

export const SPLITS = ["train", "dev", "test"] as const;

export type Split = (typeof SPLITS)[number];

/** Of ten tasks, by their hash, how many belong to each split. */
const SHARES = { train: 8, dev: 1 };

/** The split of a generated task, decided by its text alone: however many are drawn, splits share none. */
export function splitOf(text: string): Split {
  const digit = parseInt(sha256(text).slice(0, 6), 16) % 10;
  if (digit < SHARES.train) return "train";
  return digit < SHARES.train + SHARES.dev ? "dev" : "test";
}
