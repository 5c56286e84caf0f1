import { describe, expect, it } from "vitest";
import { noneRetriever } from "../../src/retrieval/controls/none.ts";
import { lintContextOf } from "../../src/rollout/lint-context.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "../helpers/all-parts.ts";
import { searchEnvironment } from "../helpers/search-world.ts";

const texts = { prompt: "", messages: ["<answer>Oslo</answer>"] };
const lake = environments.get("frozen-lake", "test").create({}, { retriever: noneRetriever() });
const drawn = { strategy: "agent", temperature: 1 };

describe("lintContextOf", () => {
  it("expects an answer only where the environment has answers", () => {
    const ofQuestions = lintContextOf({ ...drawn, environment: searchEnvironment() });
    expect(ofQuestions.grammar?.answerOf(texts)).toBe("Oslo");
    expect(lintContextOf({ ...drawn, environment: lake }).grammar?.answerOf(texts)).toBeNull();
  });

  it("has no grammar for an unknown environment, or a strategy with prompts of its own", () => {
    expect(lintContextOf({ ...drawn, environment: null }).grammar).toBeNull();
    const cot = { ...drawn, strategy: "cot", environment: searchEnvironment() };
    expect(lintContextOf(cot).grammar).toBeNull();
  });
});
