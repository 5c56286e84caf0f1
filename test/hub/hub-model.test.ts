import { lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentrlError } from "../../src/base/errors.ts";
import { random } from "../../src/base/random.ts";
import {
  hubModel,
  type HubModelOptions,
  type HubProgress,
  modelFolder,
} from "../../src/hub/hub-model.ts";
import { parseHubName, type HubSettings } from "../../src/hub/hub-cache.ts";
import { deadProcess } from "../helpers/dead-process.ts";
import { errorWith } from "../helpers/error-with.ts";
import { COMMIT, gitHash, hubServer, LARGE } from "../helpers/hub-server.ts";
import { localServer } from "../helpers/local-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const draw = random("weights");
const noise = (bytes: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: bytes }, () => draw.int(256)));
const shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;
const index = { weight_map: { a: shards[0], b: shards[1] } };
const wanted = new Map<string, Buffer>([
  ["config.json", Buffer.from('{"model_type":"llama"}')],
  ["tokenizer.json", Buffer.from("{}")],
  ["chat_template.jinja", Buffer.from("{{ messages }}")],
  ["model.safetensors.index.json", Buffer.from(JSON.stringify(index))],
  [shards[0], noise(LARGE + 300_000)],
  [shards[1], noise(LARGE)],
]);
const unwanted = [
  ".gitattributes",
  "README.md",
  "pytorch_model.bin",
  "original/consolidated.00.pth",
  "consolidated.safetensors",
  "onnx/model.onnx",
];
const server = await hubServer(
  "org/tiny",
  new Map([...unwanted.map((name) => [name, Buffer.from(name)] as const), ...wanted]),
);
const { hub, storage, mischief } = server;
const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

const root = temporaryFolder();
let count = 0;
let settings: HubSettings;
beforeEach(() => {
  for (const key of Object.keys(mischief)) Reflect.deleteProperty(mischief, key);
  hub.received.length = 0;
  storage.received.length = 0;
  count += 1;
  settings = {
    endpoint: hub.url,
    cache: join(root, `cache-${count}`),
    token: "hf_secret",
    offline: false,
    timeoutMs: 2000,
    retries: 2,
    retryDelayMs: 1,
  };
});

const name = parseHubName("org/tiny")!;
const get = (options: HubModelOptions = {}, of = name) => hubModel(of, { settings, ...options });
const blobsFolder = (): string => join(settings.cache, "models--org--tiny", "blobs");
async function failure(work: Promise<unknown>): Promise<AgentrlError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown as AgentrlError,
  );
  expect(error?.message).not.toContain("hf_secret");
  expect(String(error?.cause)).not.toContain("hf_secret");
  expect(error?.message).not.toContain("Signature");
  return error!;
}
async function expectWhole(folder: string): Promise<void> {
  expect((await readdir(folder)).sort()).toEqual([...wanted.keys()].sort());
  for (const [file, content] of wanted)
    expect((await readFile(join(folder, file))).equals(content), file).toBe(true);
}

describe("hubModel", () => {
  it("downloads what a model needs into Hugging Face's cache layout, and nothing else", async () => {
    const { folder, commit } = await get();
    const place = join(settings.cache, "models--org--tiny");
    expect([folder, commit]).toEqual([join(place, "snapshots", COMMIT), COMMIT]);
    await expectWhole(folder);
    expect(await readFile(join(place, "refs", "main"), "utf8")).toBe(COMMIT);
    // Large files under their SHA-256, small ones under Git's hash, as huggingface_hub does.
    const names = [...wanted.values()].map((each) =>
      each.length < LARGE ? gitHash(each) : sha256(each),
    );
    expect((await readdir(blobsFolder())).sort()).toEqual(names.sort());
    expect((await lstat(join(folder, shards[0]))).isSymbolicLink()).toBe(true);
    expect(await readlink(join(folder, shards[0]))).toBe(
      `../../blobs/${sha256(wanted.get(shards[0])!)}`,
    );
  });

  it("sends the token to the hub and to nobody else", async () => {
    await get();
    expect(hub.received.every(({ headers }) => headers.authorization === "Bearer hf_secret")).toBe(
      true,
    );
    expect(storage.received.length).toBe(2);
    expect(storage.received.some(({ headers }) => "authorization" in headers)).toBe(false);
  });

  it("asks for the revision only, once it has the files, and for nothing when it names a commit", async () => {
    await get();
    hub.received.length = 0;
    await get();
    expect(hub.received.map(({ url }) => url)).toEqual(["/api/models/org/tiny/revision/main"]);
    hub.received.length = 0;
    await get({}, parseHubName(`org/tiny@${COMMIT}`)!);
    expect(hub.received).toEqual([]);
  });

  it("takes branches, tags and references with slashes", async () => {
    const { commit } = await get({}, parseHubName("org/tiny@refs/pr/1")!);
    expect(commit).toBe(COMMIT);
    const ref = join(settings.cache, "models--org--tiny", "refs", "refs", "pr", "1");
    expect(await readFile(ref, "utf8")).toBe(COMMIT);
  });

  it("follows a model that was renamed", async () => {
    const { folder } = await get({}, parseHubName("old/name")!);
    await expectWhole(folder);
    expect(folder).toContain("models--old--name");
  });

  it("goes on where a connection was cut", async () => {
    mischief.cuts = [400_000, 300_000];
    await expectWhole((await get()).folder);
    const ranges = storage.received
      .map(({ headers }) => headers.range)
      .filter((range) => range !== undefined);
    expect(ranges).toHaveLength(2);
    for (const range of ranges)
      expect(Number(/^bytes=(\d+)-$/.exec(range)?.[1])).toBeGreaterThan(0);
  });

  it("goes on with what a run that was killed has left", async () => {
    const content = wanted.get(shards[0])!;
    await mkdir(blobsFolder(), { recursive: true });
    const part = join(blobsFolder(), `${sha256(content)}.${deadProcess()}.incomplete`);
    await writeFile(part, content.subarray(0, 1_000_000));
    await expectWhole((await get()).folder);
    expect(storage.received.map(({ headers }) => headers.range).filter(Boolean)).toEqual([
      "bytes=1000000-",
    ]);
    expect((await readdir(blobsFolder())).filter((file) => file.includes("incomplete"))).toEqual(
      [],
    );
  });

  it("begins anew when what was left is wrong, or the server knows no ranges", async () => {
    const content = wanted.get(shards[0])!;
    await mkdir(blobsFolder(), { recursive: true });
    const part = join(blobsFolder(), `${sha256(content)}.${deadProcess()}.incomplete`);
    await writeFile(part, noise(1_000_000));
    await expectWhole((await get()).folder);
    await rm(settings.cache, { recursive: true });
    Object.assign(mischief, { cuts: [500_000], noRanges: true });
    await expectWhole((await get()).folder);
  });

  it("keeps nothing whose checksum is not the one that was promised", async () => {
    mischief.spoilt = true;
    const error = await failure(get());
    expect(error).toEqual(
      errorWith(
        "HUB_CHECKSUM",
        /^org\/tiny: model-0000\d-of-00002\.safetensors: http.* twice .*checksum [0-9a-f]+/,
      ),
    );
    const kept = await readdir(blobsFolder());
    expect(kept).not.toContain(sha256(wanted.get(shards[0])!));
    expect(kept).not.toContain(sha256(wanted.get(shards[1])!));
    // No half of a model under its name.
    await expect(get({ settings: { ...settings, offline: true } })).rejects.toMatchObject({
      code: "HUB_OFFLINE",
    });
  });

  it("asks again when the hub stumbles, and gives up with what to do", async () => {
    mischief.stumbles = [503, 429];
    await expectWhole((await get()).folder);
    await rm(settings.cache, { recursive: true });
    mischief.stumbles = [503, 503, 503];
    expect(await failure(get())).toEqual(
      errorWith(
        "HUB_UNREACHABLE",
        /^org\/tiny: http.* cannot be reached: status 503 \(3 attempts\)/,
      ),
    );
  });

  it("keeps what has come when it gives up", async () => {
    mischief.cuts = Array.from({ length: 40 }, () => 0);
    expect((await failure(get())).code).toBe("HUB_UNREACHABLE");
    Object.assign(mischief, { cuts: [900_000, 900_000, ...Array.from({ length: 40 }, () => 0)] });
    expect((await failure(get())).code).toBe("HUB_UNREACHABLE");
    storage.received.length = 0;
    delete mischief.cuts;
    await expectWhole((await get()).folder);
    expect(storage.received.some(({ headers }) => headers.range !== undefined)).toBe(true);
  });

  it.each([
    [401, "GatedRepo", "HUB_GATED", "is gated (HF_TOKEN is set). Accept its terms at"],
    [403, "GatedRepo", "HUB_GATED", "set HF_TOKEN to a token"],
    [
      404,
      "RepoNotFound",
      "HUB_NOT_FOUND",
      "has no such model, or it is private and the account of HF_TOKEN may not see it",
    ],
    [401, undefined, "HUB_DENIED", "HF_TOKEN is wrong, has expired, or lacks the right"],
    [403, undefined, "HUB_DENIED", "refuses with status 403"],
  ] as const)("says what to do about status %i, %s", async (status, reason, code, message) => {
    mischief.refuses = { status, reason };
    expect(await failure(get())).toEqual(errorWith(code, message));
  });

  it("says so when files are refused that are listed, as of a gated model", async () => {
    mischief.refuses = { status: 403, reason: "GatedRepo", path: /resolve/ };
    expect((await failure(get())).code).toBe("HUB_GATED");
  });

  it("says so when no token is set", async () => {
    settings = { ...settings, token: null };
    mischief.refuses = { status: 401, reason: "RepoNotFound" };
    expect(await failure(get())).toEqual(
      errorWith("HUB_NOT_FOUND", "private and no HF_TOKEN is set"),
    );
    const listing = hub.received.find(({ url }) => url.startsWith("/api/"))!;
    expect(listing.headers.authorization).toBeUndefined();
  });

  it("names a revision that is not there", async () => {
    expect(await failure(get({}, parseHubName("org/tiny@v9")!))).toEqual(
      errorWith("HUB_NOT_FOUND", "org/tiny@v9: http"),
    );
  });

  it("refuses what does not fit on the disk, before it begins", async () => {
    mischief.claimedSize = 10 ** 15;
    expect(await failure(get())).toEqual(
      errorWith("HUB_DISK_FULL", /^org\/tiny: .*2000\.\d TB.* [\d.]+ [GM]B are free/),
    );
    expect(storage.received).toEqual([]);
  });

  it("works from the cache alone when it is offline", async () => {
    const offline = { settings: { ...settings, offline: true } };
    expect(await failure(get(offline))).toEqual(
      errorWith("HUB_OFFLINE", `in ${settings.cache}, and HF_HUB_OFFLINE is set`),
    );
    const { folder } = await get();
    hub.received.length = 0;
    expect((await get(offline)).folder).toBe(folder);
    expect(hub.received).toEqual([]);
    await rm(join(folder, shards[1]));
    expect((await failure(get(offline))).code).toBe("HUB_OFFLINE");
  });

  it("goes on with the cache, and says so, when the hub cannot be reached", async () => {
    const { folder } = await get();
    const notices: string[] = [];
    const closed = await localServer(() => undefined);
    await closed.close();
    const gone = { ...settings, endpoint: closed.url, retries: 0 };
    const found = await get({ settings: gone, onNotice: (notice) => notices.push(notice) });
    expect(found.folder).toBe(folder);
    expect(notices).toEqual([
      expect.stringMatching(/cannot be reached: .*ECONNREFUSED.* commit 0123/),
    ]);
  });

  it("tells how far it is", async () => {
    const seen: HubProgress[] = [];
    await get({ onProgress: (progress) => seen.push(progress) });
    const total = [...wanted.values()].reduce((sum, { length }) => sum + length, 0);
    expect(seen.at(-1)).toMatchObject({ bytes: total, totalBytes: total });
  });

  it("stops when it is told to, leaving the part that it has", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const work = get({
      signal: stop.signal,
      onProgress: ({ bytes }) => {
        if (bytes > 100_000) stop.abort(reason);
      },
    });
    await expect(work).rejects.toBe(reason);
    await expectWhole((await get()).folder);
  });

  it("says when the cache cannot be written", async () => {
    await writeFile(join(root, "a file"), "");
    const error = await failure(get({ settings: { ...settings, cache: join(root, "a file") } }));
    expect(error).toEqual(errorWith("FILE_WRITE_FAILED", /^org\/tiny: .*a file \(ENOTDIR/));
  });

  it("loads a file once when several ask for it", async () => {
    const found = await Promise.all([get(), get(), get()]);
    for (const { folder } of found) await expectWhole(folder);
    expect(storage.received).toHaveLength(2);
  });

  it("refuses a repository without safetensors weights, and a server that is no hub", async () => {
    const other = await hubServer(
      "org/bin",
      new Map([
        ["config.json", Buffer.from("{}")],
        ["pytorch_model.bin", Buffer.from("x")],
      ]),
    );
    const at = (url: string) => ({ settings: { ...settings, endpoint: url } });
    expect(await failure(get(at(other.hub.url), parseHubName("org/bin")!))).toEqual(
      errorWith("HUB_NOT_A_MODEL", "org/bin: contains config.json, pytorch_model.bin"),
    );
    mischief.refuses = { status: 200 };
    expect((await failure(get())).code).toBe("HTTP_BAD_REPLY");
  });
});

describe("modelFolder", () => {
  it("takes a folder for what it is, and a name of the hub otherwise", async () => {
    expect(await modelFolder(root)).toBe(root);
    expect(await modelFolder("org/tiny", { settings })).toBe(
      join(settings.cache, "models--org--tiny", "snapshots", COMMIT),
    );
  });

  it("says when a text is neither", async () => {
    await expect(modelFolder("./nowhere", { settings })).rejects.toThrow(
      errorWith("MODEL_NAME", "./nowhere: "),
    );
    expect(hub.received).toEqual([]);
  });
});
