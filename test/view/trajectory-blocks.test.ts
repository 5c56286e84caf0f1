import { describe, expect, it } from "vitest";
import { textsBy } from "../../src/trajectory/trajectory.ts";
import { trajectoryBlocks } from "../../src/view/trajectory-blocks.ts";
import { searchTrajectory } from "../helpers/report-folder.ts";

const made = searchTrajectory({ id: "a", question: "Where?", em: 1 });
const sampled = {
  ...made,
  calls: made.calls.map((call) => ({
    ...call,
    completion: [{ owner: "policy" as const, ids: [1, 2], logprobs: [0, 0] }],
  })),
};

describe("a trajectory for the viewer", () => {
  it("has passages in the text apart, those that were to be found marked", () => {
    const [, second] = trajectoryBlocks(made, { textOf: textsBy(null), gold: ["p2"] });
    expect(second).toMatchObject({
      title: "Message 2",
      spans: [
        { owner: "environment", text: "\n\n<information>" },
        { owner: "environment", text: "Doc 1(Title: France) Its capital is Paris.", gold: false },
        { owner: "environment", text: "\n" },
        { owner: "environment", text: "Doc 2(Title: Italy) Its capital is Rome.", gold: true },
        { owner: "environment", text: "\n</information>\n\n" },
        { owner: "inserted", text: "<think>" },
        { owner: "policy", text: "done</think><answer>Paris</answer>" },
      ],
      passages: [
        { id: "p1", gold: false },
        { id: "p2", gold: true },
      ],
    });
  });

  it("reads token ids by the tokenizer", () => {
    const [first] = trajectoryBlocks(sampled, {
      textOf: textsBy((ids) => ids.join("-")),
      gold: null,
    });
    expect(first).toMatchObject({
      title: "Message 1 · 2 tokens",
      spans: [
        { owner: "template", mentionsTags: true },
        { owner: "policy", text: "1-2" },
      ],
    });
    expect(first).not.toHaveProperty("spans.1.mentionsTags");
  });

  it("shows messages as they were scored where there are ids and no tokenizer, and says so", () => {
    const [remark, first] = trajectoryBlocks(sampled, { textOf: textsBy(null), gold: null });
    expect(remark).toMatchObject({ kind: "remark", title: "Messages as they were scored" });
    expect(first).toMatchObject({ spans: [{ owner: "policy" }, { owner: "environment" }] });
  });

  it("tells problems of a message and what a rollout failed of", () => {
    const problem = { code: "no-action", message: "neither search nor answer" };
    const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "no answer in 5 s" };
    const turns = [{ ...made.turns[0]!, problems: [problem] }];
    const blocks = trajectoryBlocks(
      { ...made, turns, error },
      { textOf: textsBy(null), gold: null },
    );
    expect(blocks.filter(({ kind }) => kind === "remark")).toEqual([
      { kind: "remark", tone: "problem", title: "no-action", text: problem.message },
      { kind: "remark", tone: "problem", title: "model: HTTP_TIMEOUT", text: error.message },
    ]);
  });
});
