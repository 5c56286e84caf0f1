import { rounded } from "../../base/format.ts";
import {
  type Decode,
  type Trajectory,
  promptText,
  searchCount,
  textsBy,
} from "../../trajectory/trajectory.ts";
import { trajectoryBlocks } from "../trajectory-blocks.ts";
import { shownFacts, subtitleOf, trajectoryFacts, verdictOf } from "../trajectory-facts.ts";
import type { ViewerDetail } from "./contract.ts";
import type { ItemSpec, ViewerItem } from "./embed.ts";

/** Facts of a run's question. */
export interface AskedQuestion {
  question: string;
  references: readonly string[];
  /** Ids of the gold passages; null: unknown. */
  gold: readonly string[] | null;
}

/** Tokenizer and questions of a run's trajectories, if available. */
export interface RunReading {
  decode: Decode | null;
  questionOf: (taskId: string) => AskedQuestion | null;
}

/** Trajectories of a step of a run, for the viewer. */
export interface SampledStep {
  /** The run's name. */
  run: string;
  /** `2-sft`; null: not a stage. */
  stage: string | null;
  step: number;
  /** Number of the rollback that removed the step; null: not rolled back. */
  takenBack: number | null;
  trajectories: readonly Trajectory[];
  reading: RunReading;
}

/** Viewer settings for trajectories of training; those of several runs on the same question are shown side by side. */
export const RUN_SPEC: ItemSpec = {
  noun: ["trajectory", "trajectories"],
  facets: [
    { key: "run", label: "Run" },
    { key: "stage", label: "Stage" },
    { key: "step", label: "Step" },
    { key: "return", label: "Taken back" },
    { key: "verdict", label: "Verdict" },
    { key: "reward", label: "Reward" },
    { key: "searches", label: "Searches" },
    { key: "end", label: "End" },
  ],
  chunkSize: 100,
};

/** Trajectories of training for the viewer, in the order given. */
export async function* runItems(
  steps: AsyncIterable<SampledStep> | Iterable<SampledStep>,
  several: boolean,
): AsyncGenerator<ViewerItem> {
  for await (const { run, stage, step, takenBack, trajectories, reading } of steps) {
    for (const trajectory of trajectories) {
      const { id, taskId, end, reward } = trajectory;
      const asked = reading.questionOf(taskId);
      const verdict = verdictOf(trajectory, asked?.references ?? null);
      const title = asked?.question ?? promptText(trajectory, reading.decode)?.trim() ?? taskId;
      const draws = trajectories.filter((each) => each.taskId === taskId);
      yield {
        entry: {
          id: [run, stage, step, takenBack === null ? null : `return-${takenBack}`, id]
            .filter((part) => part !== null)
            .join(" "),
          title,
          subtitle: subtitleOf(trajectory),
          verdict,
          facets: [
            ...[several ? run : null, stage, String(step)],
            ...[takenBack === null ? null : returnText(takenBack), verdict],
            ...[reward === null ? null : rounded(reward), String(searchCount(trajectory)), end],
          ],
          group: JSON.stringify([run, stage, step, taskId]),
          label: [
            `step ${step}`,
            ...(takenBack === null ? [] : ["taken back"]),
            ...(draws.length > 1 ? [`draw ${draws.indexOf(trajectory) + 1}`] : []),
          ].join(", "),
          beside: several
            ? { side: run, key: JSON.stringify([stage, taskId, title]), at: step }
            : undefined,
        },
        detail: {
          facts: runFacts(trajectory, asked, { run: several ? run : null, stage, step, takenBack }),
          blocks: trajectoryBlocks(trajectory, {
            textOf: textsBy(reading.decode),
            gold: asked?.gold ?? null,
          }),
        },
      };
    }
  }
}

function returnText(number: number): string {
  return `by return ${number}`;
}

function runFacts(
  trajectory: Trajectory,
  asked: AskedQuestion | null,
  {
    run,
    stage,
    step,
    takenBack,
  }: Pick<SampledStep, "stage" | "step" | "takenBack"> & { run: string | null },
): ViewerDetail["facts"] {
  const back = takenBack === null ? "" : `, taken back ${returnText(takenBack)}`;
  return shownFacts([
    ["Run", run],
    ["Stage", stage],
    ["Step", `${step}${back}`],
    ...trajectoryFacts(trajectory, asked?.references ?? null),
  ]);
}
