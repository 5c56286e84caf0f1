import { describe, expect, it } from "vitest";
import type { Environment } from "../../src/env/environments/environment.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "../helpers/all-parts.ts";
import { corpus, task as question } from "../helpers/search-world.ts";

const signal = new AbortController().signal;
const playing = { final: false, signal };
const parts = environments.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("environment $name", ({ part }) => {
  const open = (retriever: Retriever = corpus): Environment =>
    part.create(part.options.parse({}), { retriever });
  if (part.example === undefined) throw new Error(`${part.name} has no example`);
  const { task = question, act, last, end } = part.example;
  const start = (environment = open()) => environment.start(task, { trajectoryId: "one", seed: 7 });

  it("starts the same for the same seed, with the question as the prompt", async () => {
    expect(start().prompt).toBe(start().prompt);
    expect(start().prompt).toContain(task.question);
    expect(await start().step(act, playing)).toEqual(await start().step(act, playing));
  });

  it("goes on after an action and ends at its last message, with nothing more to read", async () => {
    const episode = start();
    const step = await episode.step(act, playing);
    expect(step.end).toBeNull();
    expect(step.observations.length).toBeGreaterThan(0);
    expect(step.reply).not.toBeNull();
    expect(await episode.step(last, playing)).toMatchObject({ end, reply: null });
  });

  it("makes problems of a bad message and runs no tool for it", async () => {
    const step = await start().step("hm", playing);
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
    for (const message of [act, "hm", last, ""]) {
      const step = await start(open(counting)).step(message, { final: true, signal });
      expect(step.end).toBe(message === last && end === "answered" ? "answered" : "turn-limit");
      expect(step).toMatchObject({ observations: [], reply: null });
    }
    expect(searches).toBe(0);
  });

  it("forks into episodes that go their own ways from the same state", async () => {
    const trunk = start();
    await trunk.step(act, playing);
    const branch = trunk.fork();
    expect(branch.prompt).toBe(trunk.prompt);
    expect(await branch.step(last, playing)).toMatchObject({ end });
    expect(await trunk.step(act, playing)).toEqual(await start().step(act, playing));
  });

  it("passes a failure of the outside on, and stops when asked to", async () => {
    if (!part.needs({}).includes("retriever")) return;
    const broken: Retriever = { ...corpus, search: () => Promise.reject(new Error("down")) };
    await expect(start(open(broken)).step(act, playing)).rejects.toThrow("down");
    const stopped = { final: false, signal: AbortSignal.abort(new Error("stop")) };
    await expect(start().step(act, stopped)).rejects.toThrow("stop");
  });
});
