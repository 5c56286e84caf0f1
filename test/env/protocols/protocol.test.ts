import { describe, expect, it } from "vitest";
import { z } from "../../../src/base/schema.ts";
import { defineProtocol, type Protocol } from "../../../src/env/protocols/protocol.ts";
import { protocols } from "../../../src/env/protocols/index.ts";
import { runTools } from "../../../src/rollout/record.ts";
import { errorWith } from "../../helpers/error-with.ts";

/** As a plugin in plain JavaScript may write it. */
function protocolThat(returns: unknown): Protocol {
  const plain = protocols.get("search-r1", "test").create({});
  const described = {
    name: "mine",
    summary: "",
    source: "",
    options: z.strictObject({}),
    create: () => ({ ...plain, parse: () => returns as ReturnType<Protocol["parse"]> }),
  };
  return defineProtocol(described).create({});
}

describe("what a protocol's parse returns", () => {
  const action = { tool: "search", input: "oslo" };

  it.each([
    undefined,
    [action],
    { actions: [action] },
    { actions: [{ tool: "search" }], problems: [] },
    { actions: [null], problems: [] },
    { actions: [], problems: ["no action"] },
  ])("%j is the plugin's mistake, named by its protocol", (returned) => {
    const protocol = protocolThat(returned);
    expect(() => protocol.parse("text")).toThrow(
      errorWith("PLUGIN_FAILED", /protocol "mine": parse must return/),
    );
  });

  it("is taken as it is where it is whole", () => {
    const parsed = { actions: [action], problems: [{ code: "odd", message: "odd" }] };
    expect(protocolThat(parsed).parse("text")).toEqual(parsed);
  });

  it("ends the run where it is none, rather than one trajectory", async () => {
    const protocol = protocolThat(null);
    const playing = runTools(new AbortController().signal, () =>
      Promise.resolve(protocol.parse("text")),
    );
    await expect(playing).rejects.toThrow(errorWith("PLUGIN_FAILED"));
  });
});
