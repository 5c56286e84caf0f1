import { describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { goldChain } from "../../../src/synth/teachers/gold-chain.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const world = tinyWorld({ split: "dev", people: 60, seed: 3 });
const tools = [{ name: "corpus-search", topK: 3 }];
const environment = searchEnvironment({ tools }, buildBm25(world.passages()));
const mix = { bridge1: 0, bridge2: 1, bridge3: 0, comparison: 0, yesNo: 0 };
const task = world.question(1, { mix });
const [first, second] = task.annotations.decomposition ?? [];

function play(
  strategy: string,
  behaviour: object = {},
  settings: object = {},
): Promise<Trajectory> {
  const teacher = { style: "brief", behaviour };
  const policy = scriptedTeacher(goldChain, environment, teacher);
  const options = rolloutOptions({ policy, environment, task });
  return strategies.get(strategy, "test").run(options, settings);
}

const written = ({ turns }: Trajectory): string[] => turns.map(({ text }) => text);

describe("the gold-chain teacher in a strategy with its own prompts", () => {
  it("asks one step after another in corag, answers each from its passages, and ends the chain", async () => {
    const trajectory = await play("corag");
    expect(written(trajectory)).toEqual([
      ...[first, second].flatMap((step) => [` ${step?.question ?? ""}`, ` ${step?.answer ?? ""}`]),
      "",
      `<answer> ${task.references[0] ?? ""}</answer>`,
    ]);
    expect(trajectory.answer).toBe(task.references[0]);
  });

  it("answers with what it has read when a chain ends early", async () => {
    expect((await play("corag", { continue: 0 })).answer).toBe(first?.answer);
    expect((await play("corag", {}, { steps: 1 })).answer).toBe(first?.answer);
  });

  it("says that the passages do not tell when its query was too vague", async () => {
    const { turns, answer } = await play("corag", { fullQuery: 0, continue: 0 });
    expect(turns[1]?.text).toBe(" No relevant information found");
    expect(task.question).toContain(answer);
  });

  it("plans, looks up and verifies in composerag", async () => {
    const trajectory = await play("composerag");
    expect(written(trajectory)).toEqual([
      `\n1. ${first?.question ?? ""}\n2. ${second?.question.replace(first?.answer ?? "", "#1") ?? ""}`,
      ...[first, second].flatMap((step) => [
        " look up",
        ` ${step?.question ?? ""}`,
        expect.stringMatching(/^ [123] [123] [123]$/) as string,
        ` ${step?.answer ?? ""}`,
        " yes",
      ]),
      `<answer> ${task.references[0] ?? ""}</answer>`,
      " yes",
    ]);
  });

  it("does not support a wrong answer, and plans again", async () => {
    const trajectory = await play("composerag", { continue: 0 }, { reflections: 1 });
    expect(written(trajectory).filter((text) => text === " no")).toHaveLength(2);
    expect(trajectory.answer).toBe(first?.answer);
  });

  it("writes thoughts with actions in react", async () => {
    const trajectory = await play("react");
    expect(written(trajectory)).toEqual([
      ` I must look it up\nAction 1: Search[ ${first?.question ?? ""}]`,
      ` I must look it up\nAction 2: Search[ ${second?.question ?? ""}]`,
      ` I can answer now\nAction 3: Finish[ ${task.references[0] ?? ""}]`,
    ]);
    expect(trajectory.answer).toBe(task.references[0]);
  });
});
