import { definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { LongestSequence } from "../plan/longest-sequence.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import type { Session } from "../session.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { RunRecord } from "../settings/resolved-yaml.ts";
import type { StageHead } from "../settings/stage-heads.ts";

/** What a stage leaves: the folder of the policy that it trained, and numbers that claims may name (`stages.NAME.facts`). */
export interface StageResult {
  /** null where it trained none. */
  policy: string | null;
}

/** A stage at work: the run's session, and what the recipe hands to the stage. */
export interface StageSession extends Session {
  settings: Settings;
  /** What the run's files and messages say of the recipe. */
  record: RunRecord;
  /** Folders of the draws that it learns from. */
  draws: readonly string[];
  /** Opens the dataset to learn from, or to evaluate on. */
  dataset: (purpose: "training" | "evaluation") => Promise<Dataset>;
  /** Opens an engine with the policy of `settings.policy`; the driver closes it. */
  engine: () => Promise<PolicyEngine>;
}

/** What a stage does, at most; null where that depends on what earlier stages leave, or on how many questions a dataset has. */
export interface StageWork {
  /** Updates of the policy. */
  steps: number | null;
  /** Tokens that the policy or a teacher writes. */
  sampled: number | null;
  /** Tokens that are trained on, in all epochs. */
  trained: number | null;
}

/** A unit of work of a run: it reads products of earlier stages and leaves one. */
export interface StagePart<R extends StageResult = StageResult, O = object> extends StageHead {
  run(session: StageSession, options: O): Promise<R>;
  /** The work ahead, for `recipes plan`, which opens neither data nor model. @param longest the longest trajectory of its settings. */
  plan?(settings: Settings, longest: LongestSequence): StageWork;
}

/**
 * A stage whose options are checked before they reach it. The driver holds the lock of its folder, writes what the run is and how it
 * ended, and on resume keeps a finished stage and runs one again whose settings changed.
 *
 * @example defineStage({
 *   name: "note", summary: "writes a file",
 *   options: z.object({ text: z.string() }),
 *   run: async ({ out }, { text }) => { await writeFile(join(out, "note.txt"), text); return { policy: null }; },
 * })
 */
export const defineStage = definer<StagePart>()("stage", {
  defaults: { makes: null, resumesBy: "settings" },
  functions: {
    run: {
      at: 1,
      async: true,
      returned(left: Partial<StageResult>, { what }): StageResult {
        requireReturned(what, left, {});
        return { ...left, policy: left.policy ?? null };
      },
    },
  },
});
