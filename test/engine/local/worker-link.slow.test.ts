import { afterEach, describe, expect, it } from "vitest";
import { openWaits } from "../../../src/base/waits/waits.ts";
import { startWorker, type WorkerLink } from "../../../src/engine/local/worker-link.ts";
import { errorWith } from "../../helpers/error-with.ts";

const entry = new URL("../../helpers/odd-worker.mjs", import.meta.url);
const batch = { rows: [0, 1], tokens: 100, length: 64, scored: 9 };
const loss = { name: "cross-entropy", options: {} };
const links: WorkerLink[] = [];

afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close()));
});

function oddWorker(stallMs: number | null = null, heapMb?: number) {
  const register = openWaits();
  const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
  const name = "engine worker 1 of 2";
  const link = startWorker({ name, stallMs, entry, register, resourceLimits });
  links.push(link);
  return { link, register };
}

const sample = (link: WorkerLink) =>
  link.call("sample", {
    promptIds: [1, 2, 3],
    maxTokens: 8,
    stopIds: [],
    stopStrings: [],
    temperature: 0,
    topP: 1,
    topK: 0,
    seed: 1,
    sequence: null,
  });

describe("a worker that gives no sign of life", () => {
  it("fails what waits for it, and all that comes after, saying which call it was and how to go on", async () => {
    const { link, register } = oddWorker(1500);
    await link.call("start", null as never);
    const stuck = link.call("forwardBackward", { rows: [], batches: [batch], loss });
    const behind = link.call("forget", "sequence");
    const outcome = expect(behind).rejects.toThrow(errorWith("ENGINE_STALLED"));
    await expect(stuck).rejects.toThrow(
      errorWith(
        "ENGINE_STALLED",
        /^engine worker 1 of 2: no progress for \d s, since [\d:]{8}, during forwardBackward \(a micro-batch of 100 tokens in 2 rows, 9 of them scored\)\. Checkpoints are kept: run the same command with --resume\./,
      ),
    );
    await outcome;
    await expect(link.call("forget", "later")).rejects.toThrow(errorWith("ENGINE_STALLED"));
    expect(register.size).toBe(0);
  });

  it("is told while it is waited for", async () => {
    const { link, register } = oddWorker(2500);
    const told: string[] = [];
    const watch = register.watch({ noticeMs: 1000, onLong: (message) => told.push(message) });
    await expect(
      link.call("forwardBackward", { rows: [], batches: [batch, batch], loss }),
    ).rejects.toThrow(errorWith("ENGINE_STALLED"));
    watch.close();
    expect(told[0]).toMatch(
      /^waiting \d s: engine worker 1 of 2 for forwardBackward \(2 micro-batches, the largest of 100 tokens in 2 rows, 9 of them scored\), since [\d:]{8}; deadline 3 s$/,
    );
  });

  it("is waited for as long as it shows life, and as long as nothing is asked of it", async () => {
    const { link, register } = oddWorker(1500);
    await link.call("start", null as never);
    await new Promise((resolve) => setTimeout(resolve, 1600));
    expect(register.size).toBe(0);
    await expect(sample(link)).resolves.toMatchObject({ finish: "eos" });
  });
});

describe("a worker without memory", () => {
  it("fails by name when its heap is full, with what it was asked for and what to do", async () => {
    const { link } = oddWorker(null, 24);
    await expect(link.call("readState", null)).rejects.toThrow(
      errorWith(
        "ENGINE_OUT_OF_MEMORY",
        /^engine worker 1 of 2: out of memory for readState \(.*\)\. Lower engine\.microBatchTokens/,
      ),
    );
    await expect(link.call("forget", "later")).rejects.toThrow(errorWith("ENGINE_OUT_OF_MEMORY"));
  });

  it("goes on after the runtime was refused memory", async () => {
    const { link } = oddWorker();
    const asked = { rows: [], batches: [batch], model: "policy", score: "logprobs" as const };
    await expect(link.call("score", asked)).rejects.toThrow(
      errorWith(
        "ENGINE_OUT_OF_MEMORY",
        "out of memory for score (a micro-batch of 100 tokens in 2 rows, 9 of them scored) (std::bad_alloc)",
      ),
    );
    await expect(link.call("forget", "later")).resolves.toBeNull();
  });
});

describe("a worker that fails otherwise", () => {
  it("says what failed", async () => {
    const { link } = oddWorker();
    await expect(link.call("takeWeights", null)).rejects.toThrow(
      errorWith("ENGINE_STOPPED", "engine worker 1 of 2: it fell over"),
    );
  });

  it("says that its thread has ended", async () => {
    const { link } = oddWorker();
    await expect(link.call("traffic", null)).rejects.toThrow(
      errorWith("ENGINE_STOPPED", "ended with code 3 before it answered"),
    );
    await expect(link.call("forget", "later")).rejects.toThrow(errorWith("ENGINE_STOPPED"));
  });
});
