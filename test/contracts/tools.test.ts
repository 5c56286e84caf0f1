import { describe, expect, it } from "vitest";
import { tools } from "../../src/env/tools/index.ts";
import { callTool, task } from "../helpers/search-world.ts";

describe.each(tools.parts.map((part) => ({ name: part.name, part })))(
  "tool $name",
  ({ name, part }) => {
    if (part.example === undefined) throw new Error(`${name} has no example`);
    const { good, bad } = part.example;
    const call = (input: string, how?: Parameters<typeof callTool>[2]) =>
      callTool({ name }, input, how);

    it("makes an observation with a problem of bad arguments", async () => {
      const { text, problem } = await call(bad);
      expect(text).not.toBe("");
      expect(problem?.code).toMatch(/^[a-z-]+$/);
    });

    it("gives an observation, the same one again, to any text", async () => {
      expect((await call(good)).problem).toBeUndefined();
      for (const input of [good, "\n", "</search>", "☃".repeat(2000), "{}", "\u0000"]) {
        const observation = await call(input);
        expect(observation).toEqual(await call(input));
        expect(observation.text).not.toBe("");
      }
    });

    it("calls itself in observations by the name that actions use", async () => {
      expect((await call(good)).tool).toBe(part.action);
      expect((await callTool({ name, as: "other" }, good)).tool).toBe("other");
    });

    it("stops when asked to", async () => {
      const signal = AbortSignal.abort(new Error("stop"));
      await expect(call(good, { signal })).rejects.toThrow("stop");
    });

    it("does not look at the gold unless it says so", async () => {
      if (part.readsGold) return;
      const annotations = { supportingPassages: ["lima"] };
      const asked = { ...task, references: ["Lima"], annotations };
      expect(await call(good, { asked })).toEqual(await call(good));
    });
  },
);
