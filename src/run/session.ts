import type { EvaluationProgress } from "../evaluate/evaluate.ts";
import type { DrawProgress } from "../synth/draw.ts";
import type { RunFolderUse } from "./folder/claim-run.ts";
import type { ControlledRun } from "./folder/run-control.ts";
import type { PolicyDownload } from "./assemble.ts";
import type { RunEvents } from "./train/run-events.ts";

/** What every stage of a run is given beside its settings. */
export interface Session extends Partial<RunEvents>, RunFolderUse {
  /** Folder of the run or of its stage. */
  out: string;
  /** agentrl's version, for the manifest. */
  version: string;
  signal: AbortSignal;
  /** For a policy of the hub. */
  download?: PolicyDownload;
  /** Requests of a person who watches the run. */
  control?: ControlledRun;
  /** Reads the questions once to count them, for who shows how far it is; they are streamed. */
  countsFirst?: boolean;
  /**
   * Before a stage that draws or evaluates asks its first question.
   * @param start.total questions or draws; null unless `countsFirst`.
   * @param start.kept those that are taken over from an interrupted run.
   */
  onStart?: (start: { total: number | null; kept: number }) => void;
  onDraw?: (progress: DrawProgress) => void;
  /** @param questions gone through by the steps of a synthesis. */
  onSelect?: (questions: number) => void;
  /** Of an evaluation that is a stage of its own. */
  onProgress?: (progress: EvaluationProgress) => void;
  /** Folder of a run whose evaluation before training is this run's: the same policy, questions, settings and seed. */
  evaluatedIn?: string;
  /** Settings that have no effect are no error. */
  allowIgnored?: boolean;
}
