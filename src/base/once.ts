/** A function that computes at its first call, and gives the same result at all later ones. */
export function once<T>(compute: () => T): () => T {
  let found: { value: T } | null = null;
  return () => (found ??= { value: compute() }).value;
}
