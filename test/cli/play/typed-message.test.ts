import { describe, expect, it } from "vitest";
import { typedMessage } from "../../../src/cli/play/typed-message.ts";
import { protocols } from "../../../src/env/protocols/index.ts";
import "../../helpers/all-parts.ts";

const tool = (name: string) => ({
  type: "function" as const,
  function: {
    name,
    description: `Runs ${name}.`,
    parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
  },
});

/** Types lines into one message. */
async function typed(lines: string[], { name = "tags", prefill = "" } = {}) {
  const tools = [tool("python")];
  const protocol = protocols.get(name, "test").create({}, { tools, answers: true });
  const said: string[] = [];
  const rest = [...lines];
  const typist = {
    line: () => Promise.resolve(rest.shift() ?? null),
    say: (text: string) => said.push(text),
  };
  const isWhole = (text: string) => protocol.findCut(text) !== null;
  const { text } = await typedMessage({ prefill, isWhole }, typist, {
    protocol,
    tools,
    answers: true,
  });
  return { text, said, rest };
}

describe("a typed message", () => {
  it("ends with an empty line, or with the line that completes an action", async () => {
    expect(await typed(["", "one", "two", "", "next"])).toMatchObject({
      text: "one\ntwo",
      rest: ["next"],
    });
    expect(await typed(["I print.", "<python>print(1)</python>", "next"])).toMatchObject({
      text: "I print.\n<python>print(1)</python>",
      rest: ["next"],
    });
  });

  it("keeps empty lines and slashes between the tags of a call", async () => {
    const lines = ["<python>", "", "x = 6", "/python 2", "</python>"];
    expect((await typed(lines)).text).toBe(lines.join("\n"));
  });

  it("writes an action by the protocol, after what was typed", async () => {
    expect((await typed(["/answer Oslo"])).text).toBe("<answer> Oslo</answer>");
    expect((await typed(["It is known.", "/answer Oslo"])).text).toBe(
      "It is known.\n<answer> Oslo</answer>",
    );
    const { text } = await typed(["/python 1 + 1"], { name: "hermes" });
    expect(protocols.get("hermes", "test").create({}).parse(text).actions).toEqual([
      { tool: "python", input: "1 + 1" },
    ]);
  });

  it("continues a prefill", async () => {
    expect((await typed(["/answer Oslo"], { prefill: "<answer>" })).text).toBe(" Oslo</answer>");
    expect((await typed(["Oslo</answer>", "next"], { prefill: "<answer>" })).rest).toEqual([
      "next",
    ]);
  });

  it("sends an open tag, or nothing, where it is told to", async () => {
    expect((await typed(["<python>", "", "/send"])).text).toBe("<python>\n");
    expect((await typed(["/send"])).text).toBe("");
  });

  it("tells of unknown and empty commands, and sends nothing for them", async () => {
    const { text, said } = await typed(["/pyton 1", "/python", "/help", " /usr/bin", ""]);
    expect(text).toBe(" /usr/bin");
    expect(said).toEqual([
      expect.stringContaining('Did you mean "/python"?'),
      expect.stringContaining("/python TEXT"),
      expect.stringMatching(/\/python TEXT +Runs python\.\n.*\/answer TEXT/),
    ]);
  });

  it("ends the message at the end of the input, and the episode without one", async () => {
    expect((await typed(["half"])).text).toBe("half");
    await expect(typed([])).rejects.toThrow(expect.objectContaining({ code: "EPISODE_QUIT" }));
    await expect(typed(["half", "/quit"])).rejects.toThrow(
      expect.objectContaining({ code: "EPISODE_QUIT" }),
    );
  });
});
