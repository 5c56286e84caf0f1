import { sha256 } from "../base/files.ts";
import { parseOptions, type z } from "../base/schema.ts";
import type {
  ContextPart,
  Retriever,
  RetrieverContext,
  RetrieverPart,
  RetrieverSettings,
} from "./retriever.ts";

/**
 * The fingerprint of a retriever made from options and other retrievers: another one for any other value inside.
 * @param options checked, defaults filled in, keys always in the same order; as JSON.
 */
export function derivedFingerprint(
  name: string,
  options: unknown,
  made: readonly Pick<Retriever, "fingerprint">[],
): string {
  const parts = [options, made.map(({ fingerprint }) => fingerprint)];
  return `${name}-${sha256(JSON.stringify(parts)).slice(0, 16)}`;
}

/** `reads` of a retriever around others: what it looks at itself and what they do; nothing at all leaves the key out. */
function joinedReads(
  inner: readonly Retriever[],
  own: readonly ContextPart[] = [],
): Pick<Retriever, "reads"> {
  const reads = new Set([...own, ...inner.flatMap((each) => each.reads ?? [])]);
  return reads.size === 0 ? {} : { reads: [...reads].sort() };
}

/** Opens retrievers inside another one, in order; when one does not open, those before it are closed again. */
export async function openAll(
  settings: readonly RetrieverSettings[],
  context: RetrieverContext,
): Promise<Retriever[]> {
  const opened: Retriever[] = [];
  try {
    for (const each of settings) opened.push(await context.open(each));
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
  return opened;
}

/** Closes them all, also after one that fails to; then throws its error. */
async function closeAll(retrievers: readonly Retriever[]): Promise<void> {
  const results = await Promise.allSettled(retrievers.map((each) => each.close()));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** A retriever around others: its fingerprint, what it reads, and closing them. @param own what it reads itself. */
export function around(
  name: string,
  inner: readonly Retriever[],
  options: unknown,
  own: readonly ContextPart[] = [],
): Pick<Retriever, "fingerprint" | "reads" | "close"> {
  const fingerprint = derivedFingerprint(name, options, inner);
  return { fingerprint, ...joinedReads(inner, own), close: () => closeAll(inner) };
}

/** What a part makes; its name and a `close` that has nothing to do may be left out. */
export type Opened = Omit<Retriever, "name" | "close"> & Partial<Retriever>;

/** A retriever part whose options are checked before `open` sees them. */
export function defineRetriever<S extends z.ZodObject>(
  part: Pick<RetrieverPart, "name" | "summary"> & {
    readsGold?: boolean;
    options: S;
    open: (options: z.output<S>, context: RetrieverContext) => Opened | Promise<Opened>;
  },
): RetrieverPart {
  const { name, summary, readsGold = false, options, open } = part;
  return {
    ...{ part: "retriever", name, summary, readsGold, options },
    async create(given, context) {
      const opened = await open(parseOptions(options, given, name), context);
      return { name, close: () => Promise.resolve(), ...opened };
    },
  };
}
