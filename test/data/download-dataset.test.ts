import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { type Card, parseCard } from "../../src/data/cards/card.ts";
import {
  downloadDataset,
  type DatasetDownloadOptions,
} from "../../src/data/cards/download-dataset.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { zipOf } from "../helpers/archives.ts";
import { dataServer } from "../helpers/data-server.ts";
import { deadProcess } from "../helpers/dead-process.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const draw = random("questions");
const lines = (count: number): Buffer =>
  Buffer.from(
    Array.from({ length: count }, (_, id) =>
      JSON.stringify({ id, question: `${draw.int(1e9)}?`.repeat(20), answers: ["x"] }),
    ).join("\n"),
  );
const [train, dev, test] = [lines(4000), lines(30), lines(12)];
const archive = zipOf(
  new Map([
    ["__MACOSX/dev.json", dev],
    ["data/dev.json", dev],
  ]),
);
const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
const { server, storage, mischief } = await dataServer(
  new Map([
    ["/a.example/train.jsonl", train],
    ["/a.example/set.zip", archive],
    ["/datasets/org/set/resolve/main/test.jsonl", test],
  ]),
);

const cardText = (known = ""): string => `
summary: s
for: f
homepage: https://a.example
paper: https://b.example
license: CC0
defaultSplit: train
passages: none
sources:
  original:
    about: a
    splits:
      train: { url: "https://a.example/train.jsonl", layout: plain, records: 4000${known} }
      dev: { url: "https://a.example/set.zip", member: dev.json, layout: plain, records: 30 }
      test: { url: "hub:org/set/test.jsonl", layout: plain, records: 12 }
      gone: { url: "https://a.example/gone.jsonl", layout: plain, records: 1 }
`;
const card = (known = ""): Card => parseCard(cardText(known), "made", "made.yaml");

const root = temporaryFolder();
let count = 0;
let cache: string;
let notices: string[];
beforeEach(() => {
  for (const key of Object.keys(mischief)) Reflect.deleteProperty(mischief, key);
  server.received.length = 0;
  storage.received.length = 0;
  count += 1;
  cache = join(root, `cache-${count}`);
  notices = [];
});

/** Splits of the card, with the settings of the test's server. */
const get = (splits: string[], options: DatasetDownloadOptions = {}, of = card()) =>
  downloadDataset(of, {
    environment: { AGENTRL_DATA: cache, AGENTRL_DATA_URL: server.url, HF_ENDPOINT: server.url },
    splits,
    patience: { timeoutMs: 2000, retries: 2, retryDelayMs: 1 },
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
const place = (file: string): string => join(cache, "made", "original", file);
const ranges = (): unknown[] =>
  [...server.received, ...storage.received].map(({ headers }) => headers.range).filter(Boolean);
const parts = async (): Promise<string[]> =>
  (await readdir(dirname(place("x")))).filter((file) => file.includes("incomplete"));
async function expectWhole(): Promise<void> {
  expect((await readFile(place("train.jsonl"))).equals(train)).toBe(true);
  expect(await parts()).toEqual([]);
}

describe("downloadDataset", () => {
  it("puts a split where it is looked for, and says beside it where it came from", async () => {
    const [file] = await get(["train"]);
    expect(file).toEqual({
      split: "train",
      path: place("train.jsonl"),
      wasHere: false,
      license: "CC0",
      url: "https://a.example/train.jsonl",
      sha256: sha256(train),
      bytes: train.length,
      records: 4000,
      layout: "plain",
    });
    await expectWhole();
    expect(await loadTasks(place("train.jsonl"))).toHaveLength(4000);
    expect(JSON.parse(await readFile(place("train.jsonl.origin.json"), "utf8"))).toMatchObject({
      sha256: sha256(train),
    });
  });

  it("says when nobody published a checksum, and holds the next download against the first", async () => {
    await get(["train"]);
    expect(notices).toEqual([expect.stringContaining(`sha256 ${sha256(train)}`)]);
    await rm(place("train.jsonl"));
    notices.length = 0;
    await get(["train"]);
    expect(notices).toEqual([]);
    await rm(place("train.jsonl"));
    mischief.spoilt = true;
    await expect(get(["train"])).rejects.toThrow(
      errorWith("DATASET_CHECKSUM", /^made train: http.*\/train\.jsonl .* \(sha256 [0-9a-f]{64}\)/),
    );
    expect(existsSync(place("train.jsonl"))).toBe(false);
  });

  it("holds a download against the card's checksum", async () => {
    await get(["train"], {}, card(`, sha256: ${sha256(train)}`));
    expect(notices).toEqual([]);
    await rm(cache, { recursive: true });
    const other = card(`, sha256: ${"f".repeat(64)}`);
    await expect(get(["train"], {}, other)).rejects.toThrow(errorWith("DATASET_CHECKSUM"));
    expect(await readdir(dirname(place("x")))).toEqual([]);
  });

  it("asks for nothing that is here, and again for what has changed since", async () => {
    await get(["train"]);
    server.received.length = 0;
    expect((await get(["train"]))[0]?.wasHere).toBe(true);
    expect(server.received).toEqual([]);
    await writeFile(place("train.jsonl"), "cut");
    expect((await get(["train"]))[0]?.wasHere).toBe(false);
    await expectWhole();
  });

  it("takes a file of the hub by its own checksum, from where it redirects to, without the token", async () => {
    const environment = { AGENTRL_DATA: cache, HF_ENDPOINT: server.url, HF_TOKEN: "hf_secret" };
    await get(["test"], { environment });
    expect((await readFile(place("test.jsonl"))).equals(test)).toBe(true);
    expect(server.received[0]?.headers.authorization).toBe("Bearer hf_secret");
    expect(storage.received.some(({ headers }) => "authorization" in headers)).toBe(false);
    await rm(cache, { recursive: true });
    mischief.spoilt = true;
    await expect(get(["test"], { environment })).rejects.toThrow(
      errorWith("DATASET_CHECKSUM", "than its server announces"),
    );
  });

  it("takes a file out of an archive, which is kept for the others", async () => {
    await get(["dev"]);
    expect((await readFile(place("dev.json"))).equals(dev)).toBe(true);
    expect(existsSync(place("archives/set.zip"))).toBe(true);
    await rm(place("dev.json"));
    server.received.length = 0;
    await get(["dev"]);
    expect(server.received).toEqual([]);
    await writeFile(place("archives/set.zip"), archive.subarray(0, archive.length - 30));
    await rm(place("dev.json"));
    await expect(get(["dev"])).rejects.toThrow(errorWith("DATASET_ARCHIVE", "set.zip"));
  });

  it("never replaces a file of the user that has the name of an archive's file", async () => {
    await mkdir(dirname(place("dev.json")), { recursive: true });
    await writeFile(place("dev.json"), "[]");
    await expect(get(["dev"])).rejects.toThrow(
      errorWith("DATASET_UNEXPECTED", `${place("dev.json")} already exists`),
    );
    expect(await readFile(place("dev.json"), "utf8")).toBe("[]");
  });

  it("goes on where a connection was cut, also where no size is told", async () => {
    mischief.cuts = [100_000, 90_000];
    await get(["train"]);
    await expectWhole();
    expect(ranges()).toHaveLength(2);
    await rm(cache, { recursive: true });
    server.received.length = 0;
    Object.assign(mischief, {
      cuts: [100_000],
      noSizes: true,
      refuses: { status: 405, method: "HEAD" },
    });
    await get(["train"]);
    await expectWhole();
    expect(ranges()).toHaveLength(1);
  });

  it("goes on with what a run that was killed has left, if it is of the same file", async () => {
    mischief.stalls = 200_000;
    const stop = new AbortController();
    const work = get(["train"], {
      signal: stop.signal,
      onProgress: ({ bytes }) => {
        if (bytes > 100_000) stop.abort();
      },
    });
    await expect(work).rejects.toThrow("aborted");
    delete mischief.stalls;
    const [part = ""] = await parts();
    const content = await readFile(place(part));
    expect(content.length).toBeGreaterThan(0);
    await rm(place(part));
    const [, version = ""] = /^train\.jsonl\.([0-9a-f]{12})\./.exec(part) ?? [];
    await writeFile(place(`train.jsonl.${version}.${deadProcess()}.incomplete`), content);
    server.received.length = 0;
    await get(["train"]);
    await expectWhole();
    expect(ranges()).toEqual([`bytes=${content.length}-`]);
    await rm(cache, { recursive: true });
    await mkdir(dirname(place("x")), { recursive: true });
    await writeFile(
      place(`train.jsonl.0123456789ab.${deadProcess()}.incomplete`),
      "of another file",
    );
    server.received.length = 0;
    await get(["train"]);
    expect(ranges()).toEqual([]);
    expect((await readFile(place("train.jsonl"))).equals(train)).toBe(true);
  });

  it("begins anew when the server knows no ranges", async () => {
    Object.assign(mischief, { cuts: [300_000], noRanges: true });
    await get(["train"]);
    await expectWhole();
  });

  it("asks again when a server stumbles, and gives up with what to do, keeping what has come", async () => {
    mischief.stumbles = [503, 429];
    await get(["train"]);
    await rm(cache, { recursive: true });
    mischief.cuts = [100_000, ...Array.from({ length: 40 }, () => 0)];
    await expect(get(["train"])).rejects.toThrow(
      errorWith("DATASET_UNREACHABLE", /^made train: http:.*\(3 attempts\)/),
    );
    delete mischief.cuts;
    server.received.length = 0;
    await get(["train"]);
    await expectWhole();
    expect(ranges()).toHaveLength(1);
  });

  it("gives up on a server that never sends the size that it promises, also where each attempt brings bytes", async () => {
    for (const claimedSize of [train.length + 1, train.length - 1]) {
      Object.assign(mischief, { claimedSize, noRanges: true });
      server.received.length = 0;
      await expect(get(["train"])).rejects.toThrow(
        errorWith("DATASET_UNREACHABLE", new RegExp(`${claimedSize}.*\\(3 attempts\\)`)),
      );
      expect(server.received.length).toBeLessThan(9);
    }
  });

  it("does not wait for hours when a server asks for that", async () => {
    Object.assign(mischief, { stumbles: [429], retryAfter: 3600 });
    await expect(get(["train"])).rejects.toThrow(
      errorWith("DATASET_UNREACHABLE", "status 429, retry after 3600 s (1 attempt)"),
    );
  });

  it("does not take a length of 0 for that of the file", async () => {
    mischief.claimedSize = 0;
    await get(["train"]);
    await expectWhole();
  });

  it("says what to do about a file that is gone or refused", async () => {
    await expect(get(["gone"])).rejects.toThrow(
      errorWith(
        "DATASET_REFUSED",
        /made gone: http.*\/gone\.jsonl answers with status 404: .* --source/,
      ),
    );
    mischief.refuses = { status: 401 };
    await expect(get(["test"])).rejects.toThrow(
      errorWith("DATASET_REFUSED", "answers with status 401 (no HF_TOKEN is set)"),
    );
  });

  it("refuses what does not fit on the disk, before the first byte", async () => {
    mischief.claimedSize = 10 ** 15;
    await expect(get(["train"])).rejects.toThrow(
      errorWith("DATASET_DISK_FULL", /^made train: .*1000\.0 TB.* [\d.]+ GB are free at/),
    );
    expect(server.received.map(({ method }) => method)).toEqual(["HEAD"]);
  });

  it("keeps no file of another size or layout than published", async () => {
    const short = parseCard(cardText().replace("records: 4000", "records: 4001"), "made", "m");
    await expect(get(["train"], {}, short)).rejects.toThrow(
      errorWith(
        "DATASET_UNEXPECTED",
        "contains 4000 questions of layout plain, but the published file has 4001 of layout plain.",
      ),
    );
    const unlike = parseCard(cardText().replace("layout: plain", "layout: popqa"), "made", "m");
    await expect(get(["train"], {}, unlike)).rejects.toThrow(
      errorWith("DATASET_UNEXPECTED", "has 4000 of layout popqa"),
    );
    const packed = parseCard(cardText().replace("records: 30", "records: 31"), "made", "m");
    await expect(get(["dev"], {}, packed)).rejects.toThrow(
      errorWith("DATASET_UNEXPECTED", /has 31 .* delete .*archives.set\.zip /),
    );
    expect((await readdir(dirname(place("x")))).filter((file) => file !== "archives")).toEqual([]);
  });

  it("stops when it is told to, leaving the part that it has", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    mischief.stalls = 200_000;
    const work = get(["train"], {
      signal: stop.signal,
      onProgress: ({ bytes }) => {
        if (bytes > 100_000) stop.abort(reason);
      },
    });
    await expect(work).rejects.toBe(reason);
    expect(await parts()).toHaveLength(1);
    delete mischief.stalls;
    await get(["train"]);
    await expectWhole();
    expect(ranges()).toHaveLength(1);
  });

  it("loads a file once when several ask for it, and tells how far it is", async () => {
    const seen: number[][] = [[], []];
    await Promise.all(
      seen.map((heard) => get(["train"], { onProgress: ({ bytes }) => heard.push(bytes) })),
    );
    await expectWhole();
    expect(server.received.filter(({ method }) => method === "GET")).toHaveLength(1);
    for (const heard of seen) expect(heard.at(-1)).toBe(train.length);
  });

  it("writes into a folder of the caller's own when asked to", async () => {
    const out = join(root, "own");
    await get(["train", "test"], { out });
    expect((await readdir(out)).sort()).toEqual([
      ...["test.jsonl", "test.jsonl.origin.json", "train.jsonl", "train.jsonl.origin.json"],
    ]);
  });

  it("takes a file that lies there for what it is, and removes none that it has not downloaded", async () => {
    await mkdir(dirname(place("x")), { recursive: true });
    await writeFile(place("train.jsonl"), train);
    await get(["train"]);
    expect(server.received).toEqual([]);
    await rm(cache, { recursive: true });
    await mkdir(dirname(place("x")), { recursive: true });
    await writeFile(place("train.jsonl"), test);
    await expect(get(["train"])).rejects.toThrow(
      errorWith("DATASET_UNEXPECTED", /train\.jsonl .*12 questions of layout plain.* 4000 of/),
    );
    await writeFile(place("train.jsonl"), Buffer.concat([train, Buffer.from("\n")]));
    const known = card(`, sha256: ${sha256(train)}`);
    await expect(get(["train"], {}, known)).rejects.toThrow(
      errorWith("DATASET_UNEXPECTED", `of layout plain with sha256 ${sha256(train)}. Move it away`),
    );
    expect(existsSync(place("train.jsonl"))).toBe(true);
  });

  it("says when the cache cannot be written", async () => {
    await writeFile(cache, "");
    await expect(get(["train"])).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", /^made: .*\(ENOTDIR.*set AGENTRL_DATA/),
    );
  });
});
