import { describe, expect, it } from "vitest";
import { noLeak } from "../../../src/synth/steps/evidence-gates.ts";
import { teacherSegments } from "../../../src/synth/steps/step.ts";
import { candidate } from "../../helpers/drawn-candidates.ts";
import { madeTrajectory } from "../../helpers/made-pairs.ts";
import { searchEnvironment } from "../../helpers/search-world.ts";

const task = {
  id: "q",
  question: "Where was the mother of Northern War's director born?",
  references: ["Lublin"],
  source: "made",
  annotations: {
    decomposition: [
      { question: "Who directed Northern War?", answer: "Jan Kowal", passage: null },
      { question: "Who is the mother of #1?", answer: "Ewa Nowak", passage: null },
      { question: "Where was #2 born?", answer: "Lublin", passage: null },
    ],
  },
};

/** Searches, each with what it found, and the answer. */
function searching(...searches: (readonly [query: string, found: string])[]) {
  const trajectory = madeTrajectory("t", [
    ...searches.map(([query, reply]) => ({ text: `<search> ${query}</search>`, reply })),
    { text: "<answer> Lublin</answer>" },
  ]);
  searches.forEach(([input], i) => {
    trajectory.turns[i]!.actions = [{ tool: "search", input }];
  });
  return candidate("t", { trajectory });
}

const reasonFor = async (...searches: (readonly [string, string])[]) => {
  const { protocol, toolSchemas: tools } = searchEnvironment();
  const step = await noLeak.open({}, { protocol, tools, seed: 1, ...teacherSegments(null) });
  const { dropped } = step.apply({ task, candidates: [searching(...searches)] });
  return dropped.map(({ reason }) => reason);
};

describe("no-leak", () => {
  it("drops a query with a step's answer that was not shown yet", async () => {
    const film = ["Northern War", "A film directed by Jan Kowal."] as const;
    const born = ["where was Ewa Nowak born", "Ewa Nowak was born in Lublin."] as const;
    expect(await reasonFor(film, born)).toEqual(["leak: step in query"]);
  });

  it("keeps queries whose names the question or an earlier reply told", async () => {
    expect(
      await reasonFor(
        ["Northern War", "A film directed by Jan Kowal."],
        ["mother of Jan Kowal", "The mother of Jan Kowal is Ewa Nowak."],
        ["where was Ewa Nowak born", "Ewa Nowak was born in Lublin."],
      ),
    ).toEqual([]);
  });
});
