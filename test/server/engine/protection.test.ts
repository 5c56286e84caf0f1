import { definedValues } from "../../../src/base/defined-values.ts";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { errorWith } from "../../helpers/error-with.ts";
import { serveModel } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));

it("listens to other machines only with a key", async () => {
  await expect(serveModel(model, folder, { host: "0.0.0.0" })).rejects.toThrow(
    errorWith("SERVER_UNPROTECTED", "0.0.0.0"),
  );
});

it("answers with a key alone, but for its health, and takes no larger body than it allows", async () => {
  const server = await serveModel(model, folder, { token: "tml-secret", bodyLimit: 1000 });
  onTestFinished(() => server.close());
  const ask = async (path: string, init: RequestInit = {}): Promise<[number, string]> => {
    const reply = await fetch(`${server.url}/api/v1/${path}`, init);
    return [reply.status, await reply.text()];
  };
  const post = (body: string, key?: string): RequestInit => ({
    method: "POST",
    body,
    headers: definedValues({ "content-type": "application/json", "x-api-key": key }),
  });
  expect((await ask("healthz"))[0]).toBe(200);
  for (const key of [undefined, "tml-other", ""]) {
    const [status, text] = await ask("create_session", post("{}", key));
    expect(status).toBe(401);
    expect(text).not.toContain("tml-");
  }
  expect((await ask("create_session", post("{}", "tml-secret")))[0]).toBe(200);
  const large = JSON.stringify({ sdk_version: "x".repeat(2000) });
  expect((await ask("create_session", post(large, "tml-secret")))[0]).toBe(413);
  expect((await ask("forward_backward", post("{", "tml-secret")))[0]).toBe(422);
  for (const path of ["tinker://../weights/a", "tinker://m/weights/..", "/etc/passwd"]) {
    const body = JSON.stringify({ model_id: "m", path });
    expect((await ask("load_weights", post(body, "tml-secret")))[0]).toBeGreaterThanOrEqual(400);
    const [status] = await ask(
      "weights_info",
      post(JSON.stringify({ tinker_path: path }), "tml-secret"),
    );
    expect(status).toBe(400);
  }
});
