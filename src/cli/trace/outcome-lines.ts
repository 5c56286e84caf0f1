/** Question and outcome of a trajectory, for the terminal. */
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { Inline } from "../../view/document.ts";
import type { Line } from "../../view/styled.ts";
import { blockLines } from "../../view/terminal.ts";
import { type Facts, shownFacts, trajectoryFacts, verdictOf } from "../../view/trajectory-facts.ts";
import type { Asked } from "./trace-records.ts";

/** What became of a trajectory, with the verdict by EM. @param asked null: the question is unknown. */
export function outcomeFacts(trajectory: Trajectory, asked: Asked | null): Facts {
  const references = asked?.references ?? null;
  const verdict = verdictOf(trajectory, references);
  const told = { right: "✓ right", wrong: "✗ wrong: matches no reference" };
  return [
    ...trajectoryFacts(trajectory, references),
    ["Verdict", verdict === "right" || verdict === "wrong" ? told[verdict] : null],
  ];
}

const STYLES: Readonly<Record<string, "strong" | "small" | "bad">> = {
  Question: "strong",
  Origin: "small",
  Dropped: "bad",
};

/** Facts as labelled lines. */
export function factLines(facts: Facts, { columns }: { columns: number }): Line[] {
  const styled = shownFacts(facts).map(({ label, value }): [string, Inline] => {
    const verdict = { "✓": "good", "✗": "bad" } as const;
    const style = label === "Verdict" ? verdict[value[0] as "✓"] : STYLES[label];
    return [label, { text: value, style: style ?? "plain" }];
  });
  return blockLines([{ kind: "facts", facts: styled }], columns);
}
