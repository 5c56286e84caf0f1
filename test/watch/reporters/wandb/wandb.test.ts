import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import type { ReporterEvent } from "../../../../src/watch/reporters/reporter-event.ts";
import type { RunStart } from "../../../../src/watch/reporters/reporter.ts";
import { wandb, wandbBackend } from "../../../../src/watch/reporters/wandb/wandb.ts";
import { temporaryFolder } from "../../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const signal = new AbortController().signal;
const run = { id: "1a2b3c4d", project: "p", displayName: "n" };
let runs = 0;

function startOf(out: string, afterStep = 0): RunStart {
  const settings = { seed: 0, "environment.prompt": "a\nb" };
  return { recipe: "r", tier: "mini", version: "0.1.0", out, afterStep, settings };
}

function freshRun(): string {
  runs += 1;
  return join(folder, `run-${runs}`);
}

const step = (n: number, value = n): ReporterEvent => ({
  kind: "step",
  at: 1_700_000_001_000,
  step: n,
  data: { a: value },
  timing: {},
});
const evaluation = (name: string, n: number): ReporterEvent => ({
  kind: "evaluation",
  at: 1_700_000_002_500,
  name,
  step: n,
  scores: { em: 1 },
});
const note: ReporterEvent = {
  kind: "event",
  at: 0,
  event: { kind: "alarm", step: 3, message: "too low", facts: {} },
};

async function send(start: RunStart, told: readonly ReporterEvent[], now = 0): Promise<void> {
  const backend = wandbBackend(start, run, () => now);
  for (const each of told) await backend.send([each], signal);
  await backend.close?.();
}

function filesOf(out: string): string[] {
  return readdirSync(join(out, "wandb"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".wandb"))
    .sort()
    .map((name) => join(out, "wandb", name));
}

/** Contents of the records of a file, in order; throws at a wrong checksum. */
function contentsOf(path: string): Buffer[] {
  const bytes = readFileSync(path);
  const contents: Buffer[] = [];
  for (let at = 7, parts: Buffer[] = []; at < bytes.length;) {
    const left = 32_768 - (at % 32_768);
    if (left < 7) at += left;
    const end = at + 7 + bytes.readUInt16LE(at + 4);
    expect(bytes.readUInt32LE(at)).toBe(crc32(bytes.subarray(at + 6, end)));
    parts.push(bytes.subarray(at + 7, end));
    const type = bytes[at + 6]!;
    at = end;
    if (type !== 1 && type !== 4) continue;
    contents.push(Buffer.concat(parts));
    parts = [];
  }
  return contents;
}

type Fields = Map<number, (number | Buffer)[]>;

/** The fields of a protobuf message of varints and length-delimited values. */
function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++]!;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = varint();
    const isVarint = tag % 8 === 0;
    const value = isVarint ? number : message.subarray(at, at + number);
    if (!isVarint) at += number;
    const key = Math.floor(tag / 8);
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  return fields;
}

function itemsOf(message: Buffer): Record<string, string> {
  const items = (fieldsOf(message).get(1) ?? []).map((item) => {
    const fields = fieldsOf(item as Buffer);
    return [String(fields.get(1)?.[0]), String(fields.get(16)?.[0])];
  });
  return Object.fromEntries(items) as Record<string, string>;
}

const KINDS = new Map<number, string>([
  ...([
    [2, "history"],
    [3, "summary"],
    [10, "alert"],
    [17, "run"],
  ] as const),
  ...([
    [18, "exit"],
    [20, "final"],
    [21, "header"],
  ] as const),
]);

interface Read {
  num: number;
  kind: string;
  message: Buffer;
}

function recordsIn(path = ""): Read[] {
  return contentsOf(path).map((content) => {
    const fields = fieldsOf(content);
    const type = [...fields.keys()].find((key) => key !== 1) ?? 0;
    const message = fields.get(type)?.[0] as Buffer;
    return { num: Number(fields.get(1)?.[0]), kind: KINDS.get(type) ?? "unknown", message };
  });
}

/** Rows as `step: {names: values}` without times, alerts by their texts, other records by kind. */
function told(path: string | undefined): unknown[] {
  return recordsIn(path)
    .filter(({ kind }) => kind !== "summary")
    .map(({ kind, message }) => {
      if (kind === "alert") return [1, 2, 3].map((n) => String(fieldsOf(message).get(n)?.[0]));
      if (kind !== "history") return kind;
      const { _step: at = "", _timestamp, _runtime, ...figures } = itemsOf(message);
      return { [at]: figures };
    });
}

const alarm = ["alarm", "step 3: too low", "WARN"];

describe("the wandb reporter", () => {
  it("writes the settings, a row and a summary for each step, alerts and the end", async () => {
    const out = freshRun();
    await send(
      startOf(out),
      [step(1), note, { kind: "end", at: 1_700_000_007_000, outcome: "finished" }],
      1_700_000_000_000,
    );
    const [file = ""] = filesOf(out);
    expect(file).toBe(
      join(out, "wandb", "offline-run-20231114_221320-1a2b3c4d", "run-1a2b3c4d.wandb"),
    );
    const read = recordsIn(file);
    const kinds = ["header", "run", "history", "summary", "alert", "exit", "final"];
    expect(read.map(({ num, kind }) => [num, kind])).toEqual(kinds.map((kind, i) => [i + 1, kind]));
    const begun = fieldsOf(read[1]!.message);
    expect([1, 3, 8].map((n) => String(begun.get(n)?.[0]))).toEqual(["1a2b3c4d", "p", "n"]);
    expect(itemsOf(begun.get(4)?.[0] as Buffer)).toEqual({
      recipe: '"r"',
      tier: '"mini"',
      agentrl: '"0.1.0"',
      seed: "0",
      "environment.prompt": String.raw`"a\nb"`,
    });
    const row = { a: "1", _timestamp: "1700000001", _runtime: "1", _step: "1" };
    expect([itemsOf(read[2]!.message), itemsOf(read[3]!.message)]).toEqual([row, row]);
    expect([...fieldsOf(read[5]!.message)]).toEqual([
      [1, [0]],
      [2, [7]],
    ]);
  });

  it("gives one row to a step and the evaluation after it, and keeps the alerts between", async () => {
    const out = freshRun();
    await send(startOf(out), [
      ...[evaluation("before", 0), step(1), step(2), note, evaluation("step-2", 2)],
      evaluation("after", 2),
    ]);
    expect(told(filesOf(out)[0]).slice(2)).toEqual([
      { 0: { "evaluation/em": "1" } },
      { 1: { a: "1" } },
      { 2: { a: "2", "evaluation_during/em": "1", "evaluation/em": "1" } },
      alarm,
    ]);
  });

  it("removes the rows that a rollback repeats, but keeps each alert once", async () => {
    const out = freshRun();
    await send(startOf(out), [
      ...[step(1), step(2), step(3), note, step(2, 20), step(3, 30), step(3, 33), step(4)],
    ]);
    const [file] = filesOf(out);
    expect(told(file).slice(2)).toEqual([
      ...[{ 1: { a: "1" } }, { 2: { a: "20" } }, alarm, { 3: { a: "33" } }, { 4: { a: "4" } }],
    ]);
    expect(recordsIn(file).map(({ num }) => num)).toEqual(
      Array.from({ length: 11 }, (_, i) => i + 1),
    );
  });

  it("writes another offline run with the same id when a run is resumed, another id for a new run", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
    const out = freshRun();
    const tell = async (afterStep: number, n: number): Promise<void> => {
      const reporter = await wandb.open({}, startOf(out, afterStep), () => undefined);
      reporter.evaluation("before", 0, { em: 0 });
      reporter.metrics(n, { a: n }, {});
      await reporter.close("interrupted");
      vi.setSystemTime(Date.now() + 60_000);
    };
    await tell(0, 1);
    await tell(1, 2);
    await tell(0, 1);
    vi.useRealTimers();
    const files = filesOf(out);
    const ids = files.map((file) => /run-(\w{8})\.wandb$/.exec(file)?.[1]);
    expect([ids.length, ids[0] === ids[1], ids[1] === ids[2]]).toEqual([3, true, false]);
    expect(told(files[1]).slice(2)).toEqual([{ 2: { a: "2" } }, "exit", "final"]);
    const resumed = files.map((file) => fieldsOf(recordsIn(file)[1]!.message).get(24));
    expect(resumed).toEqual([undefined, [1], undefined]);
  });

  it("takes project and name from its options, else the project from WANDB_PROJECT", async () => {
    const namesFor = async (options: object): Promise<string[]> => {
      const out = freshRun();
      const reporter = await wandb.open({ ...options }, startOf(out), () => undefined);
      reporter.metrics(1, { a: 1 }, {});
      await reporter.close("finished");
      const begun = fieldsOf(recordsIn(filesOf(out)[0])[1]!.message);
      return [3, 8].map((n) => String(begun.get(n)?.[0]));
    };
    expect(await namesFor({ project: "mine", runName: "first" })).toEqual(["mine", "first"]);
    vi.stubEnv("WANDB_PROJECT", "theirs");
    expect((await namesFor({}))[0]).toBe("theirs");
    vi.stubEnv("WANDB_PROJECT", "");
    expect(await namesFor({})).toEqual(["r", `run-${runs}`]);
    vi.unstubAllEnvs();
  });

  it("is readable up to the last event without an end, with rows longer than a block", async () => {
    const out = freshRun();
    const names = Array.from({ length: 3000 }, (_, i) => [`group/metric_${i}`, i] as const);
    const data = Object.fromEntries(names);
    const backend = wandbBackend(startOf(out), run, () => 0);
    await backend.send([{ kind: "step", at: 0, step: 1, data, timing: {} }], signal);
    // The file is still open, as that of a killed process.
    const [row] = told(filesOf(out)[0]).slice(2) as Record<string, object>[];
    expect(Object.keys(row?.["1"] ?? {})).toHaveLength(3000);
    await backend.close?.();
  });

  it("says where it cannot write, and writes the event when it can", async () => {
    const out = freshRun();
    mkdirSync(out, { recursive: true });
    const inTheWay = join(out, "wandb");
    writeFileSync(inTheWay, "a file");
    const backend = wandbBackend(startOf(out), run, () => 0);
    await expect(backend.send([step(1)], signal)).rejects.toThrow(
      `wandb: ${inTheWay} cannot be written to (`,
    );
    rmSync(inTheWay);
    await backend.send([step(1)], signal);
    await backend.close?.();
    expect(told(filesOf(out)[0]).at(-1)).toEqual({ 1: { a: "1" } });
  });
});

// A Python with wandb 0.17.9, whose reader is Python; AGENTRL_TEST_PYTHON names another than python3.
const python = process.env["AGENTRL_TEST_PYTHON"] ?? "python3";
const READ = `
import json, sys
from wandb.proto import wandb_internal_pb2 as pb
from wandb.sdk.internal.datastore import DataStore
store, read = DataStore(), []
store.open_for_scan(sys.argv[1])
while (data := store.scan_data()) is not None:
    record = pb.Record.FromString(data)
    row = {i.key: json.loads(i.value_json) for i in record.history.item}
    read.append([record.WhichOneof("record_type"), row.get("_step"), row.get("a")])
print(json.dumps(read))
`;

function canRead(): boolean {
  try {
    execFileSync(python, ["-c", "import wandb.sdk.internal.datastore"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
const absent = !canRead();

describe.skipIf(absent)(
  `wandb's own reader${absent ? ` (skipped: ${python} has no wandb 0.17.9)` : ""}`,
  () => {
    it("reads the file of a run", async () => {
      const out = freshRun();
      await send(startOf(out), [
        ...[step(1), step(2), step(2, 20), note, evaluation("after", 2)],
        { kind: "end", at: 0, outcome: "finished" },
      ]);
      const text = execFileSync(python, ["-c", READ, filesOf(out)[0] ?? ""], { encoding: "utf8" });
      expect(JSON.parse(text)).toEqual([
        ...[
          ["header", null, null],
          ["run", null, null],
        ],
        ...[
          ["history", 1, 1],
          ["summary", null, null],
        ],
        ...[
          ["history", 2, 20],
          ["summary", null, null],
        ],
        ...[
          ["alert", null, null],
          ["exit", null, null],
          ["final", null, null],
        ],
      ]);
    });
  },
);
