import type { Interval } from "../../evaluate/statistics.ts";

/** An evaluation of one set, as its own results record it. */
export interface MeasuredSet {
  folder: string;
  /** Column that the user names for it; null: the one that is named like the dataset. */
  column: string | null;
  dataset: string;
  policy: { from?: string; model?: string };
  /** Measured questions. */
  n: number;
  /** Questions that were asked, also those whose every draw failed. */
  asked: number;
  samples: number;
  /** Failed draws. */
  errors: number;
  metrics: Readonly<Record<string, number | null>>;
  intervals: Readonly<Record<string, Interval | null>>;
  fingerprint: string;
  protocol: Readonly<Record<string, unknown>>;
  readsGold: boolean;
  /** Options of the evaluation; undefined: not given, or not recorded. */
  limit: number | undefined;
  shuffle: number | undefined;
}
