/**
 * Matches a message that has these parts in this order, whatever stands between them: places, names, numbers and codes, not the prose.
 * @example naming("a.yaml:6: teirs", '"tiers"', "[RECIPE_UNKNOWN_KEY]")
 */
export function naming(...parts: string[]): RegExp {
  const escaped = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(escaped.join("[^]*"));
}
