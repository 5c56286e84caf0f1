import { describe, expect, it } from "vitest";
import { passesTests } from "../../src/rewards/passes-tests.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import type { TaskAnnotations } from "../../src/trajectory/task.ts";
import { answered, task } from "../helpers/search-world.ts";

const tests = [
  { call: "f(2, 3)", value: "6" },
  { call: "f(0, 5)", value: "0" },
];

async function score(
  answer: string | null,
  options: object = {},
  annotations: TaskAnnotations = { tests },
) {
  const asked = { task: { ...task, annotations }, trajectory: answered(answer) };
  const [found] = await scoreWith(passesTests, [asked], { seconds: 1, ...options });
  return found;
}

const RIGHT = "def f(a, b):\n  return a * b";

describe("passes-tests", () => {
  it("pays for a program that passes all tests, in a fence or without one", async () => {
    expect(await score(RIGHT)).toBe(1);
    expect(await score(`It is\n\`\`\`python\n${RIGHT}\n\`\`\``)).toBe(1);
    expect(await score("def f(a, b):\n  return a + b")).toBe(0);
  });

  it("pays the share of the tests that pass, where it is asked for", async () => {
    expect(await score("def f(a, b):\n  return 6", { share: true })).toBe(0.5);
    expect(await score("def f(a, b):\n  return a * b if a else 1 / 0", { share: true })).toBe(0.5);
  });

  it("pays nothing for a program that fails, has no function, runs too long or forges results", async () => {
    for (const wrong of [
      "def f(a, b): return a *",
      "x = 6",
      "while True: pass",
      `${RIGHT}\nraise ValueError`,
      "def final_answer(value): pass\ndef f(a, b): return 1",
      "class E:\n  def __eq__(self, other): return True\ndef f(a, b): return E()",
      "import builtins\nbuiltins.repr = lambda value: '6'\ndef f(a, b): return 0",
    ])
      expect({ wrong, paid: await score(wrong) }).toEqual({ wrong, paid: 0 });
    expect(await score(null)).toBe(0);
  });

  it("leaves a question without tests unscored", async () => {
    expect(await score(RIGHT, {}, {})).toBeNull();
  });

  it("pays for the right functions of the counting world", async () => {
    const dataset = await openDataset(
      { name: "counting", asks: "function", questions: 20 },
      "test",
    );
    for (const each of await dataset.tasks()) {
      const scored = { task: each, trajectory: answered(each.references[0] ?? "") };
      expect(await scoreWith(passesTests, [scored], {})).toEqual([1]);
    }
  });
});
