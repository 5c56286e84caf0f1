import { describe, expect, it } from "vitest";
import { environments } from "../../src/env/environments/index.ts";
import type { Environment } from "../../src/env/environments/environment.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { corpus, task } from "../helpers/search-world.ts";

/** Messages that each environment's default protocol takes for a tool call, an answer, and neither. */
const MESSAGES = {
  "search-qa": {
    tool: "<search>capital Norway</search>",
    answer: "<answer>Oslo</answer>",
    neither: "hm",
  },
} as Record<string, { tool: string; answer: string; neither: string }>;

const signal = new AbortController().signal;
const playing = { final: false, signal };
const parts = environments.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("environment $name", ({ name, part }) => {
  const open = (retriever: Retriever = corpus): Environment =>
    part.create(part.options.parse({}), { retriever });
  const start = (environment = open()) => environment.start(task, { trajectoryId: "one", seed: 7 });
  const { tool, answer, neither } = MESSAGES[name] ?? expect.fail(`no messages for ${name}`);

  it("starts the same for the same seed, with the question as the prompt", async () => {
    expect(start().prompt).toBe(start().prompt);
    expect(start().prompt).toBe(open().renderPrompt(task));
    expect(start().prompt).toContain(task.question);
    expect(await start().step(tool, playing)).toEqual(await start().step(tool, playing));
  });

  it("goes on after a tool call and ends at an answer, with nothing more to read", async () => {
    const episode = start();
    const step = await episode.step(tool, playing);
    expect(step.end).toBeNull();
    expect(step.observations.length).toBeGreaterThan(0);
    expect(step.reply).not.toBeNull();
    const last = await episode.step(answer, playing);
    expect(last).toMatchObject({ end: "answered", reply: null, observations: [] });
  });

  it("makes problems of a bad message and runs no tool for it", async () => {
    const step = await start().step(neither, playing);
    expect(step.problems.length).toBeGreaterThan(0);
    expect(step).toMatchObject({ actions: [], observations: [] });
  });

  it("ends at the final message, whatever it says, and runs no tool for it", async () => {
    let searches = 0;
    const counting: Retriever = {
      ...corpus,
      search: (queries, k, options) => {
        searches += 1;
        return corpus.search(queries, k, options);
      },
    };
    for (const message of [tool, neither, answer, ""]) {
      const step = await start(open(counting)).step(message, { final: true, signal });
      expect(step.end).toBe(message === answer ? "answered" : "turn-limit");
      expect(step).toMatchObject({ observations: [], reply: null });
    }
    expect(searches).toBe(0);
  });

  it("forks into episodes that go their own ways from the same state", async () => {
    const trunk = start();
    await trunk.step(tool, playing);
    const branch = trunk.fork();
    expect(branch.prompt).toBe(trunk.prompt);
    expect(await branch.step(answer, playing)).toMatchObject({ end: "answered" });
    expect(await trunk.step(tool, playing)).toEqual(await start().step(tool, playing));
  });

  it("passes a failure of the outside on, and stops when asked to", async () => {
    const broken: Retriever = { ...corpus, search: () => Promise.reject(new Error("down")) };
    await expect(start(open(broken)).step(tool, playing)).rejects.toThrow("down");
    const stopped = { final: false, signal: AbortSignal.abort(new Error("stop")) };
    await expect(start().step(tool, stopped)).rejects.toThrow("stop");
  });
});
