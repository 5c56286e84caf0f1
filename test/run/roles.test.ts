import { describe, expect, it } from "vitest";
import type { LocalEngine } from "../../src/engine/local/local-engine.ts";
import { BASE_POLICY } from "../../src/run/bases.ts";
import { openRoles, type RoleOptions } from "../../src/run/roles.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { tokenizer } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const request = { maxTokens: 5, signal: new AbortController().signal };

describe("openRoles", () => {
  it("asks the server of an evaluation as the policy", async () => {
    const { url } = await chatServer(() => "Oslo");
    const endpoint = { baseUrl: url, model: "m", apiKeyEnv: null, retries: 0 };
    const roles = openRoles(settingsSchema.parse({ policy: { endpoint } }));
    expect(await roles.get("policy", "here").complete("Q", request)).toBe("Oslo");
    await roles.close();
  });

  it("asks the policy that is opened after the roles, and fails without one", async () => {
    const settings = settingsSchema.parse({});
    await expect(openRoles(settings).get("policy", "here").complete("Q", request)).rejects.toThrow(
      /"policy" is not open/,
    );
    const sample = () => Promise.resolve({ ids: tokenizer.encode(" Oslo"), logprobs: [], finish: "eos" }); // prettier-ignore
    const engine = { sample, tokenizer } as unknown as LocalEngine;
    const held: RoleOptions = {};
    const roles = openRoles(settings, held);
    held.policy = { engine, model: BASE_POLICY };
    expect(await roles.get("policy", "here").complete("Q", request)).toBe(" Oslo");
  });
});
