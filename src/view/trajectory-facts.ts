/** Facts of a trajectory and of a sample, for pages and terminals. */
import { orAbsent, rounded } from "../base/format.ts";
import { leavesOf } from "../base/leaves.ts";
import { exactMatch } from "../text/answers.ts";
import type { Candidate } from "../trajectory/sample.ts";
import { type Trajectory, searchCount } from "../trajectory/trajectory.ts";
import type { Verdict } from "./viewer/contract.ts";

/** Labels with their values; null or an empty text: nothing to show. */
export type Facts = (readonly [label: string, value: string | null])[];

/** Facts that have a value, for the viewer. */
export function shownFacts(facts: Facts): { label: string; value: string }[] {
  return facts.flatMap(([label, value]) =>
    value === null || value === "" ? [] : [{ label, value }],
  );
}

/** What became of a trajectory. @param references null: not known. */
export function trajectoryFacts(
  trajectory: Trajectory,
  references: readonly string[] | null,
): Facts {
  const { answer, confidence, end, rewards, hints = [] } = trajectory;
  const certain = confidence === undefined ? "" : ` (confidence ${rounded(confidence)})`;
  return [
    ["Answer", `${answer ?? "none"}${certain}`],
    referencesFact(references),
    ["Reward", rewards.length === 0 && trajectory.reward === null ? null : rewardText(trajectory)],
    ["End", end],
    ["Searches", String(searchCount(trajectory))],
    ["Hints", hints.map(({ name, call }) => `${name} in message ${call + 1}`).join(" · ")],
  ];
}

/** @param references null: not known. */
export function referencesFact(references: readonly string[] | null): Facts[number] {
  const label = references?.length === 1 ? "Reference" : "References";
  return [label, references?.join(" · ") ?? null];
}

/** How a sample came about. */
export function sampleFacts({ weight, scores, provenance }: Candidate): Facts {
  const { teacher, draw, strategy, steps, seed, template, retriever, dataset } = provenance;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  const told = Object.entries(scores).map(([name, value]) => `${name} ${rounded(value)}`);
  const went = steps.map(({ name, change }) =>
    change === undefined ? name : `${name} (${change})`,
  );
  return [
    ["Weight", rounded(weight)],
    ["Scores", told.join(" · ")],
    ["Teacher", `${who.join(" ")} · draw ${draw.name} ${draw.number}`],
    ["Strategy", strategyText(strategy)],
    ["Steps", went.join(" → ")],
    ["Seed", String(seed)],
    ["Origin", `${dataset} · template ${template} · retriever ${retriever}`],
  ];
}

/** @example strategyText({ name: "agent", turns: 2 }) // "agent, turns 2" */
function strategyText(strategy: unknown): string {
  if (typeof strategy === "string") return strategy;
  const parts = [...leavesOf(strategy)].map(([keys, value]) => {
    const key = keys.join(".");
    return key === "name" ? String(value) : `${key} ${String(value)}`;
  });
  return parts.join(", ");
}

/** Right by EM. @param references null: unknown, so not judged. */
export function verdictOf(
  { error, answer }: Trajectory,
  references: readonly string[] | null,
): Verdict {
  if (error !== undefined) return "failed";
  if (references === null) return null;
  return answer !== null && exactMatch(answer, references) === 1 ? "right" : "wrong";
}

/** A trajectory's reward and its components; those with an address stand at their messages. */
function rewardText({ reward, rewards }: Trajectory): string {
  const number = (value: number | null): string =>
    value === null ? "not scored" : orAbsent(value, rounded);
  const whole = rewards.filter(({ at }) => at === null);
  const addressed = rewards.length - whole.length;
  return [
    number(reward),
    ...whole.map(({ name, value }) => `${name} ${number(value)}`),
    ...(addressed === 0 ? [] : [`${addressed} at their messages`]),
  ].join(" · ");
}

/** The subtitle of an item. */
export function subtitleOf({
  error,
  answer,
  end,
}: Pick<Trajectory, "answer"> & { end: string; error?: { code: string } }): string {
  return error?.code ?? answer ?? `no answer (${end})`;
}
