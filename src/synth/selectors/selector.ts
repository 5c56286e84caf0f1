import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Random } from "../../base/random.ts";

/** What is known of a sample when all of them are looked at: a few numbers, so that a hundred thousand fit. */
export interface SampleFacts {
  id: string;
  taskId: string;
  type: string | null;
  hops: number | null;
  /** Draw that it comes from. */
  draw: string;
  reward: number | null;
  scores: Readonly<Record<string, number>>;
  /** Characters that the policy wrote. */
  length: number;
  searches: number;
}

/** Chooses among all samples, or puts them in an order, once every step has seen every question. */
export interface Selector extends PartWithOptions {
  readonly source?: string;
  /** Options with which it can be tested, where its defaults alone are refused. */
  readonly example?: object;
  /** @returns those that stay, in the order of the file to be written, and why the others do not. */
  select(
    samples: readonly SampleFacts[],
    options: Record<string, unknown>,
    random: Random,
  ): { kept: readonly SampleFacts[]; dropped: readonly { id: string; reason: string }[] };
}
