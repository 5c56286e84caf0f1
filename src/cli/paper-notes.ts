import type { ResolvedSettings } from "../run/settings/settings.ts";
import type { CliContext } from "./command.ts";

/** Says what a run of the tier `paper` has otherwise than the paper. */
export async function notePaper(
  resolved: Pick<ResolvedSettings, "recipe" | "tier">,
  context: CliContext,
): Promise<void> {
  const { differenceLines } = await import("../run/checks/paper-tier.ts");
  for (const line of differenceLines(resolved)) context.note(`differs from the paper: ${line}`);
}
