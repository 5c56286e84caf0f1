import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { hubServer } from "../helpers/hub-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

// Whole processes, so what was built is run.
const builtModule = new URL("../../dist/hub/hub-model.js", import.meta.url).href;
const draw = random("processes");
const weights = Buffer.from(Uint8Array.from({ length: 3_000_000 }, () => draw.int(256)));
const { hub, storage, mischief } = await hubServer(
  "org/tiny",
  new Map([
    ["config.json", Buffer.from("{}")],
    ["tokenizer.json", Buffer.from("{}")],
    ["model.safetensors", weights],
  ]),
);
const root = temporaryFolder();

/** A process that prints the model's folder, or its progress if that is asked for. */
function fetchIn(cache: string, progress = "") {
  const script = `
    import { modelFolder } from ${JSON.stringify(builtModule)};
    const onProgress = ({ bytes }) => ${progress === "" ? "undefined" : progress};
    console.log(await modelFolder("org/tiny", { onProgress }));
  `;
  const environment = {
    ...process.env,
    HF_ENDPOINT: hub.url,
    HF_HUB_CACHE: cache,
    HF_TOKEN: "hf_x",
  };
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, "exit").then(([code]) => ({
    code: code as number | null,
    output: output.trim(),
  }));
  return { child, ended };
}

describe("processes that fetch one model", () => {
  it("do not hinder each other: each has it whole, and no parts are left", async () => {
    const cache = join(root, "shared");
    const results = await Promise.all([1, 2, 3].map(() => fetchIn(cache).ended));
    for (const { code, output } of results) {
      expect(code).toBe(0);
      expect((await readFile(join(output, "model.safetensors"))).equals(weights)).toBe(true);
    }
    const blobs = await readdir(join(cache, "models--org--tiny", "blobs"));
    expect(blobs.filter((name) => name.includes("incomplete"))).toEqual([]);
  });

  it("go on with what a killed one has left", async () => {
    const cache = join(root, "killed");
    mischief.stalls = 1_000_000; // then nothing more comes
    const { child, ended } = fetchIn(cache, "bytes > 900_000 && console.log(bytes)");
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    expect((await ended).code).toBeNull();
    delete mischief.stalls;
    storage.received.length = 0;
    const { code, output } = await fetchIn(cache).ended;
    expect(code).toBe(0);
    expect((await readFile(join(output, "model.safetensors"))).equals(weights)).toBe(true);
    expect(storage.received.map(({ headers }) => headers.range)).toEqual([
      expect.stringMatching(/^bytes=[1-9]\d+-$/),
    ]);
  });
});
