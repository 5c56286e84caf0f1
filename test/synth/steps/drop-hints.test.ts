import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { dropHints } from "../../../src/synth/steps/repairs.ts";
import { type Segment, type Trajectory, tokenRows } from "../../../src/trajectory/trajectory.ts";
import { applyStep, candidate, outcome } from "../../helpers/drawn-candidates.ts";
import { replay, rolloutOptions, tokenizer } from "../../helpers/search-world.ts";

const MESSAGES = ["<think> so</think><search> Oslo</search>", "<answer> Oslo</answer>"];

function segment(owner: Segment["owner"], text: string): Segment {
  const ids = tokenizer.encode(text);
  return { owner, ids, logprobs: owner === "policy" ? ids.map(() => -1) : null };
}

/** The first message said as segments, with a hint among them. */
async function hinted(
  segments: readonly Segment[],
  hint: string,
  prompt: readonly Segment[] = [],
): Promise<Trajectory> {
  const trajectory = await rollOut(rolloutOptions({ policy: replay(MESSAGES) }));
  const [first, ...calls] = trajectory.calls;
  const text = segments.map(({ ids }) => tokenizer.decode(ids)).join("");
  return {
    ...trajectory,
    calls: [
      { ...first!, prompt: [...first!.prompt, ...prompt], completion: [...segments] },
      ...calls,
    ],
    turns: trajectory.turns.map((turn, i) => (i === 0 ? { ...turn, text } : turn)),
    hints: [{ name: "planted", call: 0, text: hint }],
  };
}

const policy = (text: string) => segment("policy", text);
const inserted = (text: string) => segment("inserted", text);

describe("drop-hints", () => {
  it.each([
    ["at the start", [inserted("I search."), policy("<think> so</think><search> Oslo</search>")]],
    [
      "within",
      [policy("<think> so"), inserted(" Wait."), policy("</think><search> Oslo</search>")],
    ],
  ])("takes a hint out of tokens and text alike: %s", async (_, segments) => {
    const hint = segments.find(({ owner }) => owner === "inserted");
    const text = tokenizer.decode(hint?.ids ?? []);
    const trajectory = await hinted(segments, text);
    const { kept, mended } = await applyStep(dropHints, [candidate("one", { trajectory })]);
    const left = kept[0]?.trajectory;
    expect(mended).toEqual(["one"]);
    expect(left?.hints).toBeUndefined();
    const [row] = tokenRows(left ?? { calls: [] });
    expect(row?.owners).not.toContain("inserted");
    expect(left?.turns[0]?.text).toBe(trajectory.turns[0]?.text.replace(text, ""));
    expect(tokenizer.decode(row?.ids ?? [])).toContain(left?.turns[0]?.text);
    // Everything after the hint was sampled after other text.
    expect(left?.calls.flatMap(({ completion }) => completion.map((s) => s.logprobs))).toEqual(
      left?.calls.flatMap(({ completion }) => completion.map(() => null)),
    );
    expect(left?.turns[1]).toEqual(trajectory.turns[1]);
  });

  it("drops a trajectory whose hint opens the tag that the policy closes", async () => {
    const hint = "<think> I search.";
    const trajectory = await hinted(
      [inserted(hint), policy(" so</think><search> Oslo</search>")],
      hint,
    );
    const { dropped } = await applyStep(dropHints, [candidate("one", { trajectory })]);
    expect(dropped).toEqual([{ id: "one", reason: "tag in hint" }]);
  });

  it("takes what was withheld out of a prompt, and leaves the message", async () => {
    const hint = "Search twice.";
    const trajectory = await hinted([policy(MESSAGES[0]!)], hint, [inserted(hint)]);
    const { kept } = await applyStep(dropHints, [candidate("one", { trajectory })]);
    const left = kept[0]?.trajectory;
    expect(left?.calls[0]?.prompt.map(({ owner }) => owner)).not.toContain("inserted");
    expect(left?.turns).toEqual(trajectory.turns);
  });

  it("drops what searches only because the hint does, and hints that are not found", async () => {
    const opened = await hinted(
      [policy("<think> so</think>"), inserted("<search>"), policy(" Oslo</search>")],
      "<search>",
    );
    const missing = await hinted([policy(MESSAGES[0]!)], "nowhere");
    const result = await applyStep(dropHints, [
      candidate("opened", { trajectory: opened }),
      candidate("missing", { trajectory: missing }),
    ]);
    expect(outcome(result)).toEqual({
      kept: [],
      dropped: ["opened: action in hint", "missing: hint stays"],
    });
  });

  it("leaves a trajectory without hints as it is", async () => {
    const trajectory = await rollOut(rolloutOptions({ policy: replay(MESSAGES) }));
    const one = candidate("one", { trajectory });
    const { kept, mended } = await applyStep(dropHints, [one]);
    expect(kept).toEqual([one]);
    expect(mended).toEqual([]);
  });
});
