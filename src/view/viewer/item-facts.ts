/** Facts of all kinds of items: verdicts, references, rewards. */
import { orAbsent, rounded } from "../../base/format.ts";
import { exactMatch } from "../../text/answers.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { Verdict, ViewerDetail } from "./contract.ts";

/** Facts for the viewer; those without a value are left out. */
export function factsOf(
  facts: readonly (readonly [label: string, value: string | null])[],
): ViewerDetail["facts"] {
  return facts.flatMap(([label, value]) =>
    value === null || value === "" ? [] : [{ label, value }],
  );
}

/** @param references null: not known. */
export function referencesFact(
  references: readonly string[] | null,
): readonly [label: string, value: string | null] {
  const label = references?.length === 1 ? "Reference" : "References";
  return [label, references?.join(" · ") ?? null];
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

/** A trajectory's reward and its components, without message rewards. */
export function rewardText({ reward, rewards }: Trajectory): string {
  const number = (value: number | null): string =>
    value === null ? "not scored" : orAbsent(value, rounded);
  const parts = rewards
    .filter(({ at }) => at === null)
    .map(({ name, value }) => `${name} ${number(value)}`);
  return [number(reward), ...parts].join(" · ");
}

/** The subtitle of an item. */
export function subtitleOf({
  error,
  answer,
  end,
}: Pick<Trajectory, "answer"> & { end: string; error?: { code: string } }): string {
  return error?.code ?? answer ?? `no answer (${end})`;
}
