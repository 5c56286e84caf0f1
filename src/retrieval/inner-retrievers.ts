import { sha256 } from "../base/files.ts";
import type { ContextPart, Retriever, RetrieverContext, RetrieverSettings } from "./retriever.ts";

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
export function joinedReads(
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
export async function closeAll(retrievers: readonly Retriever[]): Promise<void> {
  const results = await Promise.allSettled(retrievers.map((each) => each.close()));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
