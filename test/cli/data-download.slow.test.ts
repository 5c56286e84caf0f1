import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { dataServer } from "../helpers/data-server.ts";
import { type CliRun, runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

// Bamboogle's and StrategyQA's published numbers of questions, made here; long, so that they come in several pieces.
const rows = (count: number, long: number): Buffer =>
  Buffer.from(
    Array.from({ length: count }, (_, i) =>
      JSON.stringify({ id: `t${i}`, question: `Who ${"? ".repeat(long)}`, golden_answers: ["x"] }),
    ).join("\n"),
  );
const FLASHRAG = "/datasets/RUC-NLPIR/FlashRAG_datasets/resolve/main";
const bamboogle = rows(125, 10_000);
const strategyqa = rows(2290, 1);
const { server, storage, mischief } = await dataServer(
  new Map([
    [`${FLASHRAG}/bamboogle/test.jsonl`, bamboogle],
    [`${FLASHRAG}/strategyqa/train.jsonl`, strategyqa],
  ]),
);

const root = temporaryFolder();
const bin = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");
let cache = "";
let count = 0;
beforeEach(() => {
  for (const key of Object.keys(mischief)) Reflect.deleteProperty(mischief, key);
  storage.received.length = 0;
  cache = join(root, `cache-${(count += 1)}`);
});

const environment = () => ({
  ...process.env,
  NO_COLOR: "1",
  AGENTRL_DATA: cache,
  HF_ENDPOINT: server.url,
  HF_TOKEN: "hf_x",
});

/** A process of its own that leaves this one free to serve. */
function start(args: readonly string[], program = [process.execPath, bin]) {
  const [command = "", ...first] = program;
  const child = spawn(command, [...first, ...args], { env: environment(), cwd: root });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended: Promise<CliRun> = once(child, "close").then(([status]) => ({
    stdout,
    stderr: stderr.replaceAll(cache, "CACHE"),
    status: status as number | null,
  }));
  return { child, ended };
}
const download = (...args: string[]) => start(["data", "download", ...args]);
const place = (...names: string[]): string => join(cache, "bamboogle", "flashrag", ...names);
const parts = (): string[] =>
  existsSync(place()) ? readdirSync(place()).filter((name) => name.includes("incomplete")) : [];

async function partOf(bytes: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (parts().some((name) => readFileSync(place(name)).length >= bytes)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no part of ${bytes} bytes`);
}

describe("agentrl data download", () => {
  it("shows the licence, fetches, and lists what is here; --dataset finds it then", async () => {
    const absent = await runCli(["eval", "--dataset", "bamboogle", "--policy", "base"], {
      env: { AGENTRL_DATA: cache },
    });
    expect(absent.status).toBe(2);
    expect(absent.stderr.replaceAll(cache, "CACHE")).toContain(
      "error: dataset bamboogle:test is not on this machine (CACHE/bamboogle/flashrag/test.jsonl). Download it (125 questions, MIT): agentrl data download bamboogle --split test [DATASET_ABSENT]\n",
    );
    const { stdout, stderr, status } = await download("bamboogle").ended;
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^bamboogle: licence MIT \(https:\/\/github\.com\/ofirpress\/self-ask\)\n/,
    );
    expect(stdout.replaceAll(cache, "CACHE")).toBe(
      "test  125 questions  2.5 MB  CACHE/bamboogle/flashrag/test.jsonl\n",
    );
    const listed = (await runCli(["data", "list"], { env: { AGENTRL_DATA: cache } })).stdout;
    expect(listed).toMatch(/^ {2}bamboogle +test +125 {2}MIT +yes$/m);
    const checked = await runCli(["data", "check", "bamboogle"], { env: { AGENTRL_DATA: cache } });
    expect(checked.stdout).toMatch(/test\.jsonl|kind questions, layout flashrag, records 125/);
    expect(checked.status).toBe(0);
    expect((await download("bamboogle", "--quiet").ended).stdout).toContain("(was here)");
  });

  it("prints one JSON document, and sends the token to the hub alone", async () => {
    const { stdout } = await download("strategyqa", "--source", "flashrag", "--json").ended;
    expect(JSON.parse(stdout)).toMatchObject({
      name: "strategyqa",
      license: "MIT (repository)",
      files: [{ split: "train", records: 2290, bytes: strategyqa.length, wasHere: false }],
    });
    expect(storage.received.some(({ headers }) => "authorization" in headers)).toBe(false);
  });

  it("leaves the part that it has on Ctrl-C, and goes on with it in the next run", async () => {
    mischief.stalls = 1_000_000;
    const { child, ended } = download("bamboogle");
    await partOf(900_000);
    child.kill("SIGINT");
    expect((await ended).status).toBe(130);
    expect(parts()).toHaveLength(1);
    delete mischief.stalls;
    storage.received.length = 0;
    expect((await download("bamboogle").ended).status).toBe(0);
    expect(storage.received.map(({ headers }) => headers.range)).toEqual([
      expect.stringMatching(/^bytes=[1-9]\d{5,}-$/),
    ]);
    expect(readFileSync(place("test.jsonl")).equals(bamboogle)).toBe(true);
  });

  it("goes on after a kill -9, and shares one download between processes", async () => {
    mischief.stalls = 1_000_000;
    const { child, ended } = download("bamboogle");
    await partOf(900_000);
    child.kill("SIGKILL");
    expect((await ended).status).toBeNull();
    delete mischief.stalls;
    storage.received.length = 0;
    const runs = await Promise.all([1, 2, 3].map(() => download("bamboogle").ended));
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(readFileSync(place("test.jsonl")).equals(bamboogle)).toBe(true);
    expect(parts()).toEqual([]);
  });

  it("says when a file cannot grow any more, and keeps what has come", async () => {
    const limited = ["sh", "-c", 'ulimit -f 1000; exec "$0" "$@"', process.execPath, bin];
    const { stderr, status } = await start(["data", "download", "bamboogle"], limited).ended;
    expect([status, stderr]).toEqual([
      4,
      expect.stringMatching(
        /error: bamboogle: .* CACHE\/bamboogle\/flashrag \(EFBIG.*\[FILE_WRITE_FAILED\]/,
      ),
    ]);
    expect(parts()).toHaveLength(1);
    expect((await download("bamboogle").ended).status).toBe(0);
  });

  it("says what is allowed when a name, split or source is not", async () => {
    const said = async (...args: string[]): Promise<string> => {
      const { stderr, status } = await runCli(["data", "download", ...args]);
      return `${status ?? "none"} ${stderr.split("\n").at(-2) ?? ""}`;
    };
    expect(await said("bambogle")).toMatch(
      /^2 error: name is "bambogle"; no such dataset\. Did you mean/,
    );
    expect(await said("nq", "--split", "tset")).toMatch(
      /^2 error: --split is "tset"; nq has no such split in its source original\. Did you mean "test"/,
    );
    expect(await said("nq", "--source", "hub")).toMatch(
      /^2 error: --source is "hub"; nq has no such source\./,
    );
  });

  it("finds a downloaded file that was changed since", async () => {
    await download("bamboogle").ended;
    const path = place("test.jsonl");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace('"t7"', '"u7"'));
    const { stdout, status } = await runCli(["data", "check", "bamboogle:test"], {
      env: { AGENTRL_DATA: cache },
    });
    expect(status).toBe(3);
    expect(stdout).toContain("is not the file that was downloaded (sha256 in ");
    rmSync(path);
  });

  it("refuses to train on a test set", async () => {
    await download("bamboogle").ended;
    const set = ["--set", "dataset={name: bamboogle}", "--set", "retriever=none"];
    const train = ["train", "--recipe", "search-r1", "--tier", "smoke", "--out", join(root, "run")];
    const run = spawnSync(process.execPath, [bin, ...train, ...set], {
      env: environment(),
      encoding: "utf8",
    });
    expect([run.status, run.stderr]).toEqual([
      2,
      expect.stringContaining(
        'dataset is "bamboogle:test", a test set that must stay out of training.',
      ),
    ]);
    expect(run.stderr).toContain("[DATASET_NOT_TRAINABLE]");
  }, 30_000);
});
