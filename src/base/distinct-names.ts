/** The last parts of paths, as many as needed to be unique. @example distinctNames(["runs/a/nq", "runs/b/nq"]) // ["a/nq", "b/nq"] */
export function distinctNames(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split(/[\\/]/).filter((part) => part !== ""));
  for (let depth = 1; depth <= Math.max(...parts.map(({ length }) => length)); depth++) {
    const names = parts.map((own) => own.slice(-depth).join("/"));
    if (new Set(names).size === names.length) return names;
  }
  return [...paths];
}
