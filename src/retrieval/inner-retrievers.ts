import { definer } from "../base/define-part.ts";
import { sha256 } from "../base/files.ts";
import { requireReturned } from "../base/registry.ts";
import type {
  ContextPart,
  Retriever,
  RetrieverContext,
  RetrieverPart,
  RetrieverSettings,
} from "./retriever.ts";

/**
 * The fingerprint of a retriever made from options and other retrievers: changes with any of them.
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

/** `reads` of a retriever with inner ones: its own and theirs; without any, the key is absent. */
function joinedReads(
  inner: readonly Retriever[],
  own: readonly ContextPart[] = [],
): Pick<Retriever, "reads"> {
  const reads = new Set([...own, ...inner.flatMap((each) => each.reads ?? [])]);
  return reads.size === 0 ? {} : { reads: [...reads].sort() };
}

/** Opens inner retrievers in order; if one fails, closes the earlier ones. */
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

/** A retriever with inner ones: combines fingerprints and `reads`, and closes them. @param own what it reads itself. */
export function around(
  name: string,
  inner: readonly Retriever[],
  options: unknown,
  own: readonly ContextPart[] = [],
): Pick<Retriever, "fingerprint" | "reads" | "close"> {
  const fingerprint = derivedFingerprint(name, options, inner);
  return { fingerprint, ...joinedReads(inner, own), close: () => closeAll(inner) };
}

/** The result of a part's `open`; the name, and a `close` without effect, may be omitted. */
export type Opened = Omit<Retriever, "name" | "close"> & Partial<Retriever>;

/** Makes a retriever. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineRetriever = definer<RetrieverPart>()("retriever", {
  defaults: { readsGold: false },
  functions: {
    open: {
      at: 0,
      async: true,
      returned(opened: Opened, { what, name }): Retriever {
        requireReturned(what, opened, { search: "function", fingerprint: "text" });
        return { name, close: () => Promise.resolve(), ...opened };
      },
    },
  },
});
