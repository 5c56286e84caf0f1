import type { Turn } from "./trajectory.ts";

/** Whether a message is no valid action: it has a problem, or each of its calls has one, so that it did nothing. */
export function isInvalidTurn({
  problems,
  observations,
}: Pick<Turn, "problems" | "observations">): boolean {
  // prettier-ignore
  const failed = observations.filter(({ problem }) => problem !== undefined);
  return problems.length > 0 || (failed.length > 0 && failed.length === observations.length);
}
