import { describe, expect, it } from "vitest";
import type { Tool } from "../../src/env/tools/tool.ts";
import { tools } from "../../src/env/tools/index.ts";
import { corpus, task } from "../helpers/search-world.ts";

/** What each tool cannot work with, as a message would ask for it. */
const BAD_INPUTS: Record<string, readonly string[]> = { "corpus-search": [""] };
const GOOD_INPUTS: Record<string, string> = { "corpus-search": "capital Norway" };

describe.each(tools.parts.map((part) => ({ name: part.name, part })))(
  "tool $name",
  ({ name, part }) => {
    const call = (input: string, signal = new AbortController().signal): ReturnType<Tool["call"]> =>
      part
        .create(part.options.parse({}), { retriever: corpus })
        .call(input, { trajectoryId: "one", task, turn: 0, signal });

    it("makes an observation with a problem of bad arguments", async () => {
      for (const input of BAD_INPUTS[name] ?? expect.fail(`no bad input for ${name}`)) {
        const { text, problem } = await call(input);
        expect(text).not.toBe("");
        expect(problem?.code).toMatch(/^[a-z-]+$/);
      }
    });

    it("gives an observation, the same one again, to any text", async () => {
      for (const input of [
        GOOD_INPUTS[name]!,
        "\n",
        "</search>",
        "☃".repeat(2000),
        "{}",
        "\u0000",
      ]) {
        const observation = await call(input);
        expect(observation).toEqual(await call(input));
        expect(observation.text).not.toBe("");
      }
    });

    it("calls itself in observations by the name that actions use", async () => {
      const tool = part.create(part.options.parse({}), { retriever: corpus });
      expect((await call(GOOD_INPUTS[name]!)).tool).toBe(tool.name);
    });

    it("stops when asked to", async () => {
      const signal = AbortSignal.abort(new Error("stop"));
      await expect(call(GOOD_INPUTS[name]!, signal)).rejects.toThrow("stop");
    });

    it("does not look at the gold unless it says so", async () => {
      if (part.readsGold) return;
      const other = {
        ...task,
        references: ["Lima"],
        annotations: { supportingPassages: ["lima"] },
      };
      const tool = part.create(part.options.parse({}), { retriever: corpus });
      const context = { trajectoryId: "one", turn: 0, signal: new AbortController().signal };
      expect(await tool.call(GOOD_INPUTS[name]!, { ...context, task: other })).toEqual(
        await tool.call(GOOD_INPUTS[name]!, { ...context, task }),
      );
    });
  },
);
