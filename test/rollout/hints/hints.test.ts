import { describe, expect, it } from "vitest";
import { hints } from "../../../src/rollout/hints/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { playHinted } from "../../helpers/hinted.ts";
import { readable, task } from "../../helpers/search-world.ts";

const SEARCH = "<search>capital Norway</search>";
const ANSWER = "<answer>Lima</answer>";
const first = ({ turns }: Trajectory): string | undefined =>
  turns.find(({ chain }) => chain === undefined)?.text;
const hinted = async (texts: string[], ...given: object[]) => first(await playHinted(texts, given));

describe("hints", () => {
  it("each say where they are put and where they come from, and have defaults for all options", () => {
    for (const { name, where, source, summary, options } of hints.parts) {
      expect([name, where, source].every((each) => each !== "")).toBe(true);
      expect(summary.endsWith(".")).toBe(true);
      expect(options.safeParse({}).success).toBe(true);
      expect(options.safeParse({ surprise: 1 }).success).toBe(false);
    }
  });
});

describe("opening", () => {
  it("begins the first message with a thought, given with what begins one or without", async () => {
    for (const text of [" so", "<think> so"]) {
      expect(await hinted([`</think>${SEARCH}`], { name: "opening", text })).toBe(
        `<think> so</think>${SEARCH}`,
      );
    }
  });

  it("begins later messages, or every one, where told to", async () => {
    const play = (messages: string) =>
      playHinted(
        [SEARCH, ANSWER],
        [{ name: "opening", text: "[O]", thoughtOpening: "", messages }],
      );
    const begun = async (messages: string) =>
      (await play(messages)).turns.map(({ text }) => text.startsWith("[O]"));
    expect(await begun("first")).toEqual([true, false]);
    expect(await begun("later")).toEqual([false, true]);
    expect(await begun("every")).toEqual([true, true]);
  });

  it("may be a whole message, for which nobody is asked", async () => {
    const text = SEARCH;
    const trajectory = await playHinted([ANSWER], [{ name: "opening", text, thoughtOpening: "" }]);
    expect(trajectory.turns.map((turn) => turn.text)).toEqual([SEARCH, ANSWER]);
    expect(trajectory.calls[0]!.completion.map(({ owner }) => owner)).toEqual(["inserted"]);
  });
});

describe("after-connective", () => {
  const part = { name: "after-connective", text: "[H]" };

  it("follows the first connective as a whole word, and takes back what came after it", async () => {
    const texts = ["<think> Waiter wait. Wait, no", " yes", ""];
    expect(await hinted(texts, part)).toBe("<think> Waiter wait. Wait[H] yes");
  });

  it("leaves words of queries and answers alone", async () => {
    const text = "<think> so</think><search>Wait Wait</search>";
    expect(await hinted([text], part)).toBe(text);
    expect(await hinted(["<answer>Wait</answer>"], part)).toBe("<answer>Wait</answer>");
  });

  it("follows every connective up to its number in a trajectory", async () => {
    const texts = [" Wait a Wait b", " c Wait d", " e Wait f"];
    const every = { ...part, occurrence: "every", times: 2 };
    expect(await hinted(texts, every)).toBe(" Wait[H] c Wait[H] e Wait f");
    expect(await hinted(texts, { ...part, times: 2 })).toBe(" Wait[H] c Wait d");
  });

  it("follows connectives at random by the seed, each drawn once", async () => {
    const some = { ...part, occurrence: "random", probability: 0.5, times: 9 };
    const play = (seed: number) => playHinted([" Wait a", " b"], [some], { seed });
    const fired = await Promise.all(
      Array.from({ length: 40 }, async (_, seed) => (await play(seed)).hints?.length ?? 0),
    );
    const share = fired.filter((count) => count > 0).length / 40;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.75);
    expect(await play(3)).toEqual(await play(3));
  });
});

describe("before-answer", () => {
  it("lengthens the thinking as often as told", async () => {
    const part = { name: "before-answer", text: " Hm.", times: 2 };
    const texts = [
      "<think> a</think><answer>Lima</answer>",
      `</think>${ANSWER}`,
      `</think>${ANSWER}`,
    ];
    expect(await hinted(texts, part)).toBe(`<think> a Hm. Hm.</think>${ANSWER}`);
  });

  it("stands before the answer where nothing was thought, and leaves searches alone", async () => {
    const part = { name: "before-answer", text: "Hm." };
    expect(await hinted([ANSWER, SEARCH], part)).toBe(`Hm.${SEARCH}`);
    expect(await hinted([SEARCH], part)).toBe(SEARCH);
  });
});

describe("before-guess", () => {
  const part = { name: "before-guess", text: " Look it up." };

  it("holds up an answer before the first search, and none after one", async () => {
    expect(await hinted([`<think> a</think>${ANSWER}`, `</think>${SEARCH}`], part)).toBe(
      `<think> a Look it up.</think>${SEARCH}`,
    );
    const trajectory = await playHinted([SEARCH, ANSWER], [part]);
    expect(trajectory.turns.at(-1)!.text).toBe(ANSWER);
  });

  it("stands instead of chosen words, whatever follows them", async () => {
    const given = { ...part, phrases: ["from memory"], answers: false };
    expect(await hinted([`<think> so From Memory Oslo</think>${SEARCH}`, "!"], given)).toBe(
      "<think> so  Look it up.!",
    );
    expect(await hinted([ANSWER], given)).toBe(ANSWER);
  });
});

describe("after-result", () => {
  const part = { name: "after-result", text: "[T]", within: 20 };
  const second = async (text: string) =>
    (await playHinted([SEARCH, text, ANSWER], [part])).turns[1]!.text;

  it("stands instead of doubts about what was found, at the beginning of the next message", async () => {
    expect(await second("<think> Hmm, is it so?")).toBe(`<think> [T]${ANSWER}`);
    expect(await second(`<think> ${"x".repeat(20)} hmm`)).toBe(`<think> ${"x".repeat(20)} hmm`);
  });

  it("lets a message doubt that follows no observation", async () => {
    expect(await hinted(["<think> Hmm"], part)).toBe("<think> Hmm");
  });
});

describe("uncertainty", () => {
  it("cuts the thought where it becomes uncertain", async () => {
    const texts = ["<think> It is MAYBE Lima", `</think>${SEARCH}`];
    const part = { name: "uncertainty", text: "[U]" };
    expect(await hinted(texts, part)).toBe(`<think> It is [U]</think>${SEARCH}`);
  });
});

describe("answer-reflection", () => {
  it("takes the answer back into the thinking", async () => {
    const part = { name: "answer-reflection", text: " {answer}? {x}" };
    expect(await hinted([`<think> a</think>${ANSWER}`, `</think>${SEARCH}`], part)).toBe(
      `<think> a Lima? {x}</think>${SEARCH}`,
    );
  });
});

describe("first-thought", () => {
  it("begins the first message with the first step of a chain of thought asked for apart", async () => {
    const trajectory = await playHinted(
      [" Norway's capital.\n\nThen more", `</think>${SEARCH}`, ANSWER],
      ["first-thought"],
    );
    expect(first(trajectory)).toBe(`<think>Norway's capital.</think>${SEARCH}`);
    expect(trajectory.turns[0]).toMatchObject({ chain: "first-thought", actions: [] });
    expect(trajectory.hints).toEqual([
      { name: "first-thought", call: 1, text: "<think>Norway's capital." },
    ]);
  });

  it("begins nothing with a step that is a whole message already, or empty", async () => {
    for (const step of [ANSWER, ""]) {
      const trajectory = await playHinted([step, SEARCH, ANSWER], ["first-thought"]);
      expect(first(trajectory)).toBe(SEARCH);
      expect(trajectory.hints).toBeUndefined();
    }
  });
});

describe("withheld", () => {
  const facts = [{ title: "Oslo", sentence: 0 }];
  const known = { ...task, annotations: { supportingFacts: [...facts, ...facts] } };

  it("stands after the prompt apart from it, and is marked as gold where it is", async () => {
    const trajectory = await playHinted([ANSWER], ["withheld"], { task: known });
    expect(readable(trajectory).split("\n").slice(1, 3)).toEqual([
      '  template: "Question: What is the capital of Norway?\\n"',
      '  inserted: "Passages that help: Oslo.\\n"',
    ]);
    const text = "Passages that help: Oslo.\n";
    expect(trajectory.hints).toEqual([
      { name: "withheld", call: 0, text, withheld: true, readsGold: true },
    ]);
  });

  it("is left out where the question lacks what it would tell, and is no gold where it tells none", async () => {
    expect((await playHinted([ANSWER], ["withheld"])).hints).toBeUndefined();
    const plain = await playHinted([ANSWER], [{ name: "withheld", text: "Think.\n" }]);
    expect(plain.hints).toEqual([{ name: "withheld", call: 0, text: "Think.\n", withheld: true }]);
  });
});
