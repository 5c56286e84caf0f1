import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { chatClient } from "../../src/http/chat.ts";
import { measuredModelShape } from "../../src/http/chat-settings.ts";
import { folderCache } from "../../src/http/reply-cache.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("a cache of replies", () => {
  it("takes a damaged file for a missing one, and replaces it", async () => {
    const path = join(folder, "damaged");
    const cache = folderCache(path);
    const schema = z.object({ text: z.string() });
    const request = { a: 1 };
    await cache.set(request, { text: "t" });
    const [sub = ""] = readdirSync(path);
    const [file = ""] = readdirSync(join(path, sub));
    for (const damage of ["{", "{}", '{"request": "other", "reply": {"text": ""}}']) {
      writeFileSync(join(path, sub, file), damage);
      expect(await cache.get(request, schema)).toBeNull();
    }
    await cache.set(request, { text: "t" });
    expect(await cache.get(request, schema)).toEqual({ text: "t" });
  });

  it("answers an equal request once, each seed for itself, and keeps no reply that counts as a failure", async () => {
    let reply: string | object = "Ada";
    const server = await chatServer(() => reply);
    const client = () =>
      chatClient(
        "judge",
        parseOptions(
          z.strictObject(measuredModelShape),
          { baseUrl: `${server.url}/v1`, model: "m", apiKeyEnv: null, cache: join(folder, "chat") },
          "judge",
        ),
      );
    const ask = (seed: number, asking = client()) =>
      asking.complete({ messages: [{ role: "user", content: "Who?" }], seed });
    const first = await ask(1);
    const again = client();
    expect(await ask(1, again)).toEqual(first);
    expect(again.meter.reading()).toMatchObject({ cached: 1, requests: 0, promptTokens: 0 });
    await ask(2);
    expect(server.received).toHaveLength(2);
    for (const text of ["", null]) {
      reply = { message: { content: text }, finish_reason: null };
      await ask(3);
    }
    expect(server.received).toHaveLength(4);
  });
});
