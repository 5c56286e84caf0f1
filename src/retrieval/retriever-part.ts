import type { PartSettings, PartWithOptions } from "../base/part-schema.ts";
import type { z } from "../base/schema.ts";
import type { Passage } from "../trajectory/task.ts";
import type { Retriever } from "./retriever.ts";

/** A retriever that a recipe can name. */
export interface RetrieverPart extends PartWithOptions {
  /** Whether it looks at the answers or the gold passages of the task that asks: a control, never a result. Then what it opens says so in `reads`. */
  readonly readsGold: boolean;
  /**
   * @param options checked by the part's own schema; a recipe's are already.
   * @throws what opening it throws: a missing or damaged index, bad options, a server that cannot be reached.
   */
  create(options: unknown, context: RetrieverContext): Promise<Retriever>;
}

/** A retriever's settings: its name beside its options. */
export type RetrieverSettings = PartSettings<RetrieverPart>;

/** What retrievers are made from. */
export interface RetrieverContext {
  /** The corpus at hand, once per call: a dataset's own passages. Absent where there is none (`serve`, `index search`). */
  readonly corpus?: () => AsyncIterable<Passage> | Iterable<Passage>;
  /**
   * Opens a retriever inside another one; the outer one closes it.
   * @param corpus the passages that it is to search instead of those at hand.
   */
  open(settings: RetrieverSettings, corpus?: RetrieverContext["corpus"]): Promise<Retriever>;
}

/**
 * The schema of an option that names a retriever inside another one. A part that has such an option is a function of
 * it: only the list of all parts (index.ts) can make the schema, and parts cannot import the list that they stand in.
 */
export type InnerRetriever = z.ZodType<RetrieverSettings>;
