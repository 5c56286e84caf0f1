import { deferring } from "../../base/deferring.ts";
import { openEngine, openNamedDataset, policyFolder } from "../assemble.ts";
import type { Session } from "../session.ts";
import { recordOf } from "../settings/resolved-yaml.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { StageSession } from "./stage.ts";

/**
 * Opens the session of one stage and closes afterwards what the stage opened by it. Resolved settings end here: below, a stage sees
 * its settings, what its run's files say of the recipe, and openers of its parts.
 */
export function withStageSession<T>(
  resolved: ResolvedSettings<Settings>,
  session: Session,
  work: (session: StageSession) => Promise<T>,
  draws: readonly string[] = [],
): Promise<T> {
  const { settings } = resolved;
  const { dataset, evaluation, environment, policy } = settings;
  const download = { ...session.download, signal: session.signal };
  return deferring((defer) =>
    work({
      ...session,
      settings,
      record: recordOf(resolved),
      draws,
      dataset: (purpose) =>
        openNamedDataset(purpose === "training" ? dataset : evaluation.dataset, environment),
      engine: async () => {
        const folder = await policyFolder(policy.from, download);
        const engine = await openEngine(settings, folder, download);
        defer(() => engine.close());
        return engine;
      },
    }),
  );
}
