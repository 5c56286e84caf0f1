import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DataError } from "../../../src/base/errors.ts";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { tokenizer } from "../../helpers/search-world.ts";
import { servePolicy } from "../../helpers/served-policy.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const root = join(folder, "adapters");
for (const name of ["a", "b", "broken"]) mkdirSync(join(root, name), { recursive: true });
mkdirSync(join(folder, "outside"));
symlinkSync(join(folder, "outside"), join(root, "link"));

/** A server whose policy writes "base" and whose adapters write their folder's name. */
async function served(closed: string[] = []) {
  const client = await servePolicy(
    scriptedPolicy(tokenizer, () => "base"),
    {
      adapters: {
        root,
        most: 2,
        open(at) {
          const name = at.slice(root.length + 1);
          if (name === "broken")
            return Promise.reject(new DataError("ADAPTER_UNSUPPORTED", "it is broken"));
          const close = () => Promise.resolve(void closed.push(name));
          return Promise.resolve({ policy: scriptedPolicy(tokenizer, () => name), close });
        },
      },
    },
  );
  const load = (name: string, path: string) =>
    fetch(`${client.server.url}/v1/load_lora_adapter`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lora_name: name, lora_path: path }),
    }).then(async (reply) => ({ status: reply.status, text: await reply.text() }));
  const unload = (name: string) =>
    fetch(`${client.server.url}/v1/unload_lora_adapter`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lora_name: name }),
    }).then(({ status }) => status);
  const text = async (model?: string) => {
    const { body, status } = await client.post("/v1/completions", { prompt: "x", model });
    return status === 200 ? body.choices[0]!.text : `${status} ${body.error.code}`;
  };
  return { ...client, load, unload, text };
}

describe("adapters that clients load", () => {
  it("answer by name beside the policy, until they are unloaded", async () => {
    const closed: string[] = [];
    const { load, unload, text, get } = await served(closed);
    expect(await load("v1", join(root, "a"))).toMatchObject({ status: 200 });
    expect([await text(), await text("tiny"), await text("v1")]).toEqual(["base", "base", "a"]);
    const { data } = (await get("/v1/models")).body as unknown as { data: object[] };
    expect(data).toMatchObject([{ id: "tiny" }, { id: "v1", parent: "tiny" }]);
    expect([await unload("v1"), await unload("v1")]).toEqual([200, 404]);
    expect(closed).toEqual(["a"]);
    expect(await text("v1")).toBe("404 model_not_found");
  });

  it("are refused: a name in use, too many, a broken one, a path outside of the folder", async () => {
    const { load, unload } = await served();
    expect((await load("v1", join(root, "a"))).status).toBe(200);
    expect(await load("v1", join(root, "b"))).toMatchObject({
      status: 400,
      text: expect.stringContaining("already been loaded") as string,
    });
    expect((await load("tiny", join(root, "b"))).status).toBe(400);
    expect(await load("x", join(root, "broken"))).toMatchObject({
      status: 400,
      text: expect.stringContaining("it is broken") as string,
    });
    for (const path of [root, join(folder, "outside"), join(root, "link"), join(root, "none")])
      expect((await load("x", path)).status).toBe(404);
    expect((await load("v2", join(root, "b"))).status).toBe(200);
    expect((await load("v3", join(root, "b"))).text).toContain("--max-adapters");
    expect(await unload("v1")).toBe(200);
    expect((await load("v3", join(root, "b"))).status).toBe(200);
  });

  it("without --adapters: nothing is loaded, and any name is the policy's", async () => {
    const client = await servePolicy(scriptedPolicy(tokenizer, () => "base"));
    const asked = { lora_name: "a", lora_path: root };
    expect((await client.post("/v1/load_lora_adapter", asked)).status).toBe(404);
    const { body } = await client.post("/v1/completions", { prompt: "x", model: "any" });
    expect(body.choices[0]!.text).toBe("base");
  });
});
