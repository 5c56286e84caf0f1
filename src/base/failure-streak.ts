/** So many failures in a row, as they end: what answers, or a tool, is down. */
const GIVE_UP_AFTER = 24;

/**
 * Counts failures in a row of work that costs something to try.
 * @returns of `add`: how many there were in a row when it is time to give up, else null.
 */
export function openFailureStreak(): { add(failed: boolean): number | null } {
  let inARow = 0;
  return {
    add(failed) {
      inARow = failed ? inARow + 1 : 0;
      return inARow < GIVE_UP_AFTER ? null : inARow;
    },
  };
}
