/**
 * Stretches of together `count`, each of at most `most`: equal ones, since the runtime keeps memory of each shape apart; unless
 * that takes more than twice as many.
 * @example stretches(6, 4) // [[0, 3], [3, 6]]
 */
export function stretches(count: number, most: number): (readonly [from: number, to: number])[] {
  const fewest = Math.ceil(count / most);
  const equal = Array.from({ length: fewest + 1 }, (_, i) => fewest + i).find(
    (pieces) => count % pieces === 0,
  );
  const length = equal === undefined ? most : count / equal;
  return Array.from({ length: Math.ceil(count / length) }, (_, i) => [
    i * length,
    Math.min(count, (i + 1) * length),
  ]);
}
