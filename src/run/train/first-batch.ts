import { DataError } from "../../base/errors.ts";
import { formatTiny } from "../../base/format.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import type { Environment } from "../../env/environments/environment.ts";
import { lintContextOf } from "../../rollout/lint-context.ts";
import { type RecomputedSummary, recomputeLogprobs } from "../../rollout/recomputed-logprobs.ts";
import { type Violation, openLint } from "../../trajectory/lint/open-lint.ts";
import { type Trajectory, segmentText } from "../../trajectory/trajectory.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { givesLogprobsOf } from "../checks/remote-engine.ts";
import type { Settings } from "../settings/settings-schema.ts";

/** Nats by which sampling and scoring of a token may differ; as `agentrl trace lint` by default. */
const TOLERANCE = 0.01;

/**
 * Checks the first batch of a run by the rules of `agentrl trace lint`, log-probabilities computed again included, before anything is
 * learned from it.
 *
 * @param step of the batch, from 1.
 * @param file where the batch lies, for the message.
 * @returns what was looked at.
 * @throws {DataError} TRACE_VIOLATIONS
 */
export async function checkFirstBatch(
  trajectories: readonly Trajectory[],
  by: {
    settings: Settings;
    engine: PolicyEngine;
    environment: Environment;
    step: number;
    file: string;
  },
): Promise<RunEvent> {
  const { settings, engine, environment, step, file } = by;
  const { strategy, sampling, engine: engineSettings } = settings;
  const decode = (ids: readonly number[]): string => engine.tokenizer.decode(ids);
  const context = lintContextOf({
    environment,
    strategy: strategy.name,
    temperature: sampling.temperature,
  });
  const lint = openLint(
    {
      textOf: (segment) => segmentText(segment, decode),
      endIds: engine.tokenizer.endIds,
      vocabSize: engine.capabilities.vocabSize,
      contextOf: () => context,
    },
    { keep: 3 },
  );
  const { samplingWeights, sampler } = engineSettings;
  const isScoredAlike =
    samplingWeights === "float32" && (sampler === undefined || givesLogprobsOf(sampling));
  const again = recomputeLogprobs(engine, {
    tolerance: TOLERANCE,
    onDrift: (id, message) => {
      lint.add({ id, line: null, code: "logprob-drift", message });
    },
  });
  for (const [i, trajectory] of trajectories.entries()) {
    const units = lint.line(trajectory, i + 1);
    if (units.length > 0 && isScoredAlike) await again.add(trajectory.id, trajectory);
  }
  const recomputed = await again.finish();
  const { checked, counts, violations } = lint.report();
  if (violations.length > 0) throw violated(violations, counts, file);
  return {
    kind: "lint",
    step: step - 1,
    message: messageOf(checked, recomputed),
    facts: { checked, recomputed },
  };
}

function messageOf(checked: number, { tokens, largest }: RecomputedSummary): string {
  const again =
    tokens === 0
      ? ""
      : `; ${tokens} log-probabilities computed again, at most ${formatTiny(largest)} nats apart`;
  return `first batch: ${checked} trajectories hold together${again}`;
}

function violated(
  violations: readonly Violation[],
  counts: Readonly<Record<string, number>>,
  file: string,
): DataError {
  const [first] = violations;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return new DataError(
    "TRACE_VIOLATIONS",
    `${file}: ${total} ${total === 1 ? "violation" : "violations"} in the first batch (${Object.keys(counts).join(", ")}), e.g. ${first?.id ?? "?"}: ${first?.message ?? ""} Nothing was learned from it. What each rule asks is in docs/files.md; \`agentrl trace lint ${file}\` lists all, and batchCheck: false trains nevertheless.`,
  );
}
