import { describe, expect, it } from "vitest";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { firstAble } from "../../../src/synth/teachers/index.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions } from "../../helpers/search-world.ts";

const environment = environments
  .get("tool-qa", "test")
  .create({ prompt: "{question}" }, { retriever: noneRetriever() });

const played = (references: string[], question: string) => {
  const task: Task = { id: "q", question, references, source: "test", annotations: {} };
  const of = [{ name: "counting-plan", behaviour: { code: 0 } }, { name: "reference" }];
  const policy = scriptedTeacher(firstAble, environment, { of });
  return openStrategy("direct", "test").run(rolloutOptions({ policy, environment, task }));
};

describe("the teacher first-able", () => {
  it("plays by the first teacher that does not give up", async () => {
    const counted = await played(["5"], "How many numbers from 10 to 30 does 6 divide?");
    // The first one counts, whatever the reference says; the second one tells the reference.
    expect(counted.answer).toBe("4");
    expect((await played(["Oslo"], "What is the capital of Norway?")).answer).toBe("Oslo");
  });

  it("gives up where all do, and names the question", async () => {
    const { error } = await played([], "What is the capital of Norway?");
    expect(error).toMatchObject({
      code: "TEACHER_GAVE_UP",
      message: "teacher first-able: none of counting-plan, reference plays the question q.",
    });
  });
});
