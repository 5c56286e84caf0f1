import { describe, expect, it } from "vitest";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { reference } from "../../../src/synth/teachers/index.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions } from "../../helpers/search-world.ts";

const environment = environments
  .get("tool-qa", "test")
  .create({ prompt: "{question}" }, { retriever: noneRetriever() });
const answered = (strategy: string, references: string[]) => {
  const task = { id: "q", question: "Any?\n", references, source: "test", annotations: {} };
  const options = rolloutOptions({
    policy: scriptedTeacher(reference, environment),
    environment,
    task,
  });
  return openStrategy(strategy, "test").run(options);
};

describe("the reference teacher", () => {
  it("answers with the first reference, line ends and all", async () => {
    const { answer, turns } = await answered("direct", [
      "Doc 1(Title: A) B.\nDoc 2(Title: C) D.",
      "B",
    ]);
    expect(answer).toBe("Doc 1(Title: A) B.\nDoc 2(Title: C) D.");
    expect(turns).toHaveLength(1);
  });

  it("gives up where a question has no reference, and refuses strategies with prompts of their own", async () => {
    const { error } = await answered("direct", []);
    expect(error).toMatchObject({ code: "TEACHER_GAVE_UP" });
    await expect(answered("cot", ["yes"])).rejects.toThrow(errorWith("TEACHER_CANNOT_PLAY"));
  });
});
