import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ReporterEvent } from "../../../../src/watch/reporters/reporter-event.ts";
import type { RunStart } from "../../../../src/watch/reporters/reporter.ts";
import { crc32c } from "../../../../src/watch/reporters/tensorboard/events.ts";
import {
  tensorboard,
  tensorboardBackend,
} from "../../../../src/watch/reporters/tensorboard/tensorboard.ts";
import { temporaryFolder } from "../../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
let runs = 0;

function startOf(out: string, afterStep = 0): RunStart {
  const settings = { seed: 0, "environment.prompt": "a | b\nc" };
  return { recipe: "r", tier: "mini", version: "0.1.0", out, afterStep, settings };
}

function freshRun(): string {
  runs += 1;
  return join(folder, `run-${runs}`);
}

const step = (n: number): ReporterEvent => ({
  kind: "step",
  at: 0,
  step: n,
  data: { a: n },
  timing: {},
});
const note: ReporterEvent = {
  kind: "event",
  at: 0,
  event: { kind: "alarm", step: 3, message: "too low", facts: {} },
};
const signal = new AbortController().signal;

async function send(start: RunStart, now: number, told: readonly ReporterEvent[]): Promise<void> {
  const backend = tensorboardBackend(start, now);
  await backend.send(told, signal);
  await backend.close?.();
}

function filesOf(out: string): string[] {
  return readdirSync(join(out, "tensorboard")).sort();
}

/** What a file's records hold, in order: `START 5`, or the tags of a summary and its step. */
function recordsIn(out: string, file: string): string[] {
  const bytes = readFileSync(join(out, "tensorboard", file));
  const records: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number(bytes.readBigUInt64LE(at));
    const event = bytes.subarray(at + 12, at + 12 + length);
    at += length + 16;
    // wall_time is 9 bytes; here steps are below 128, one byte after their tag.
    const number = event[9] === 0x10 ? event[10]! : 0;
    const rest = event.subarray(event[9] === 0x10 ? 11 : 9);
    if (rest[0] === 0x3a) records.push(`START ${number}`);
    else if (rest[0] === 0x1a) records.push("version");
    else records.push(`${firstTag(rest)} ${number}`);
  }
  return records;
}

/** The tag of the first value of a summary: two lengths come before it. */
function firstTag(summary: Buffer): string {
  let at = 0;
  for (let level = 0; level < 2; level++) {
    at += 1;
    while (summary[at]! >= 128) at += 1;
    at += 1;
  }
  return summary.subarray(at + 2, at + 2 + summary[at + 1]!).toString("utf8");
}

describe("crc32c", () => {
  it("gives the check value of the polynomial", () => {
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
  });
});

describe("the tensorboard reporter", () => {
  it("begins a file with its version, a beginning and the settings, and adds what is told", async () => {
    const out = freshRun();
    await send(startOf(out), 1_700_000_000_000, [
      step(1),
      note,
      { kind: "evaluation", at: 0, name: "after", step: 1, scores: { em: 1 } },
      { kind: "end", at: 0, outcome: "finished" },
    ]);
    const [file = ""] = filesOf(out);
    expect(file).toBe(`events.out.tfevents.1700000000.agentrl.${process.pid}`);
    expect(recordsIn(out, file)).toEqual([
      "version",
      "START 0",
      "settings 0",
      "_hparams_/session_start_info 0",
      "a 1",
      "events/alarm 3",
      "evaluation/em 1",
      "_hparams_/session_end_info 1",
    ]);
  });

  it("begins another file behind the first when a run goes on, which takes back later steps", async () => {
    const out = freshRun();
    await send(startOf(out), 1_700_000_000_000, [step(1), step(2), step(3)]);
    const before: ReporterEvent = {
      kind: "evaluation",
      at: 0,
      name: "before",
      step: 0,
      scores: { em: 0 },
    };
    // The clock went back meanwhile.
    await send(startOf(out, 1), 1_600_000_000_000, [before, step(2)]);
    const [, second = ""] = filesOf(out);
    expect(second).toMatch(/tfevents\.1700000001\./);
    expect(recordsIn(out, second)).toEqual([
      "version",
      "START 2",
      "settings 1",
      "_hparams_/session_start_info 1",
      "a 2",
    ]);
  });

  it("takes back what a run did before it went back, but not why it went back", async () => {
    const out = freshRun();
    await send(startOf(out), 0, [step(1), step(2), step(3), note, step(2), step(3)]);
    const [file = ""] = filesOf(out);
    expect(recordsIn(out, file).slice(4)).toEqual([
      ...["a 1", "a 2", "a 3", "events/alarm 3"],
      ...["START 2", "events/alarm 3", "a 2", "a 3"],
    ]);
  });

  it("leaves nothing of an older run in the folder of a new one, and other people's files alone", async () => {
    const out = freshRun();
    await send(startOf(out), 1_700_000_000_000, [step(1)]);
    writeFileSync(join(out, "tensorboard", "events.out.tfevents.1700000000.host.1.0"), "");
    await send(startOf(out), 1_700_000_000_000, [step(1)]);
    expect(filesOf(out)).toEqual([
      `events.out.tfevents.1700000000.host.1.0`,
      `events.out.tfevents.1700000001.agentrl.${process.pid}`,
    ]);
  });

  it("leaves the end of a run open that was interrupted", async () => {
    const out = freshRun();
    await send(startOf(out), 0, [step(1), { kind: "end", at: 0, outcome: "interrupted" }]);
    expect(recordsIn(out, filesOf(out)[0]!).at(-1)).toBe("a 1");
  });

  it("says where it cannot write, keeps what it is told, and writes all when it can", async () => {
    const out = freshRun();
    mkdirSync(out, { recursive: true });
    const inTheWay = join(out, "tensorboard");
    writeFileSync(inTheWay, "a file");
    const backend = tensorboardBackend(startOf(out), 0);
    await expect(backend.send([step(1)], signal)).rejects.toThrow(
      `tensorboard: ${inTheWay} cannot be written to (EEXIST`,
    );
    rmSync(inTheWay);
    await backend.send([step(1)], signal);
    await backend.close?.();
    expect(recordsIn(out, filesOf(out)[0]!).at(-1)).toBe("a 1");
  });

  it("loses nothing between two calls and the end of a run", async () => {
    const out = freshRun();
    const troubles: string[] = [];
    const reporter = await tensorboard.open({}, startOf(out), (said) => troubles.push(said));
    for (let n = 1; n <= 100; n++) reporter.metrics(n, { a: n }, { rollout: 1 });
    await reporter.close("finished");
    const told = recordsIn(out, filesOf(out)[0]!).filter((record) => record.startsWith("a "));
    expect([told.length, told.at(-1), troubles]).toEqual([100, "a 100", []]);
  });
});
