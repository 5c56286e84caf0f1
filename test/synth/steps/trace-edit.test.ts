import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { traceEdit, traceParts } from "../../../src/synth/steps/trace-edit.ts";
import type { Tokenizer } from "../../../src/text/tokenizer.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { errorWith } from "../../helpers/error-with.ts";
import {
  replay,
  rolloutOptions,
  searchEnvironment,
  tokenizer,
} from "../../helpers/search-world.ts";

const { protocol } = searchEnvironment();
const MESSAGE = "<think> the capital. Wait. of Norway.</think><answer> Lima</answer>";
const SCORES = { "original-tokens": 30, "edited-tokens": 20, "original-right": 0 };

const drawn = async (scores: Record<string, number>) =>
  candidate("one", {
    scores,
    trajectory: await rollOut(rolloutOptions({ policy: replay([MESSAGE]) })),
  });

describe("trace-edit", () => {
  it("keeps the scored sentences, writes the reference in place of a wrong answer, and pairs both", async () => {
    const original = await drawn({ ...SCORES, "kept-0": 1, "kept-1": 0, "kept-2": 1 });
    const { kept, pairs, mended } = await applyStep(traceEdit, [original]);
    const text = "<think> the capital. of Norway.</think><answer> Oslo</answer>";
    expect(kept[0]?.trajectory).toMatchObject({ answer: "Oslo", turns: [{ text, problems: [] }] });
    const [call] = kept[0]?.trajectory.calls ?? [];
    expect(call?.finish).toBe("stop");
    expect(call?.completion).toEqual([
      { owner: "policy", ids: tokenizer.encode(text), logprobs: null },
    ]);
    expect(mended).toEqual(["one"]);
    expect(pairs).toMatchObject([{ id: "one-edited>one", rejected: { id: "one" }, margin: 10 }]);
    expect(pairs?.[0]?.rejected).toBe(original);
  });

  it("ends a message itself where no tag does, and leaves text where its writer has no tokens here", async () => {
    const environment = searchEnvironment({ protocol: { name: "tags", boxed: "alone" } });
    const policy = replay(["So. Wait. Thus \\boxed{ Oslo}."]);
    const trajectory = await rollOut(rolloutOptions({ policy, environment }));
    const scores = { ...SCORES, "original-right": 1, "kept-0": 1, "kept-1": 0, "kept-2": 1 };
    const drawn = candidate("one", { scores, trajectory });
    const edited = async (drawnWith: Tokenizer | null) => {
      const { kept } = await applyStep(traceEdit, [drawn], {}, { environment, drawnWith });
      return kept[0]?.trajectory.calls[0];
    };
    const shorter = "So. Thus \\boxed{ Oslo}.";
    const ids = [...tokenizer.encode(shorter), tokenizer.endId];
    expect(await edited(tokenizer)).toMatchObject({ finish: "eos", completion: [{ ids }] });
    expect(await edited(null)).toMatchObject({
      finish: "eos",
      completion: [{ ids: [], text: shorter }],
    });
  });

  it("keeps a right answer as it was spelt", async () => {
    const original = await drawn({ ...SCORES, "original-right": 1, "kept-0": 1 });
    const { kept } = await applyStep(traceEdit, [original]);
    const text = "<think> the capital.</think><answer> Lima</answer>";
    expect(kept[0]?.trajectory.turns[0]?.text).toBe(text);
  });

  it("leaves a trace that was not finalised, or of which nothing goes, without a pair", async () => {
    const plain = await drawn(SCORES);
    const whole = { ...SCORES, "original-right": 1, "kept-0": 1, "kept-1": 1, "kept-2": 1 };
    const { kept, pairs } = await applyStep(traceEdit, [plain, await drawn(whole)]);
    expect(kept[0]).toBe(plain);
    expect(pairs).toEqual([]);
  });

  it("refuses draws without the scores of trace-value", async () => {
    const bare = await drawn({});
    await expect(applyStep(traceEdit, [bare])).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "trace-value"),
    );
  });
});

describe("traceParts", () => {
  it("splits a message into what opens its thought, its sentences and what closes it", () => {
    const parts = traceParts(MESSAGE, protocol);
    expect(parts).toEqual({
      opening: "<think>",
      sentences: [" the capital.", " Wait.", " of Norway."],
      closing: "</think>",
      answer: "<answer> Lima</answer>",
    });
  });

  it("reads a thought that was cut, and a message without tags", () => {
    expect(traceParts("<think> a. b", protocol).closing).toBe("</think>");
    const bare = traceParts("a. b.\n<answer> c</answer>", protocol);
    expect(bare).toEqual({
      opening: "",
      sentences: ["a.", " b."],
      closing: "\n",
      answer: "<answer> c</answer>",
    });
  });
});
