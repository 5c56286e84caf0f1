import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AdamOptions } from "../../../src/autodiff/adamw.ts";
import { readJson } from "../../../src/base/files.ts";
import { random } from "../../../src/base/random.ts";
import { tarContent } from "../../../src/data/cards/tar.ts";
import type { PolicyEngine, TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import type { DialectName } from "../../../src/engine/tinker/dialect.ts";
import { openRemote } from "../../../src/engine/tinker/open-remote.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from "../../../src/models/lora/adapter-folder.ts";
import { openRemoteEngine, SMALL, smallLora } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

/**
 * Servers that run, with the same base model as a folder here; docs/servers.md has the commands. For each: NAME_URL, NAME_MODEL,
 * and where needed NAME_FILES, the folder of the server's checkpoints on this machine, and NAME_API_KEY.
 */
const servers: Record<string, { dialect: DialectName; alpha: number; samples: boolean }> = {
  SKYRL: { dialect: "skyrl-jax", alpha: 32, samples: true },
  TUFT: { dialect: "tuft", alpha: 8, samples: false },
  OPEN_RL: { dialect: "open-rl", alpha: 32, samples: true },
};

/** A server on a processor may compile for a minute. */
const STALL_MS = 200_000;

const folder = temporaryFolder();
let made = 0;

const updates: Record<string, { loss: LossSpec; signed: boolean }> = {
  "PPO clip": { loss: { name: "policy-gradient", options: { clipHigh: 0.28 } }, signed: false },
  "GRPO with KL": {
    loss: { name: "policy-gradient", options: { klCoef: 0.05, klEstimator: "k3" } },
    signed: false,
  },
  // DPO goes into token weights, those of the rejected completion negative.
  DPO: { loss: { name: "cross-entropy", options: {} }, signed: true },
};

const adam: Omit<AdamOptions, "epsilon"> = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.99,
  weightDecay: 0,
  gradClipNorm: Infinity,
};

describe.each(Object.keys(servers))("updates at a running server: %s", (name) => {
  const { dialect, alpha, samples } = servers[name]!;
  const set = (what: string): string => process.env[`${name}_${what}`] ?? "";
  const [url, model, files] = [set("URL"), set("MODEL"), set("FILES")];
  const apiKeyEnv = set("API_KEY") === "" ? null : `${name}_API_KEY`;
  const lora = { ...smallLora, alpha };
  const scale = dialect === "skyrl-jax" ? 3 : 1;

  const open = (): Promise<PolicyEngine> =>
    openRemoteEngine(model, url, { dialect, lora, apiKeyEnv, stallMs: STALL_MS });

  /** A server's adapters, which no client can choose, as the start of both sides. */
  async function bothSides(): Promise<[PolicyEngine, PolicyEngine]> {
    const there = await open();
    const start = files === "" ? await archived() : await stored(there);
    return [await openLocalEngine({ model: start, base: model, ...SMALL }), there];
  }

  /** Of a server that exports them: those of another model with the same seed. */
  async function archived(): Promise<string> {
    const server = { url, model: null, dialect, apiKeyEnv, stallMs: STALL_MS };
    const remote = await openRemote({ model, lora, server });
    const to = join(folder, `start-${made++}`);
    await mkdir(to, { recursive: true });
    const packed = join(to, "adapter.tar.gz");
    const exported = await remote.policy.archive(packed);
    await remote.policy.unload();
    remote.endHeartbeat();
    if (exported !== "written")
      throw new Error(`the server exports no adapters: set ${name}_FILES to its checkpoints`);
    for (const each of [ADAPTER_CONFIG, ADAPTER_WEIGHTS]) {
      const parts: Buffer[] = [];
      for await (const part of (await tarContent(packed, (path) => path.endsWith(each))) ?? [])
        parts.push(part);
      await writeFile(join(to, each), Buffer.concat(parts));
    }
    return to;
  }

  /** Of a server on this machine that does not: what it saved. */
  async function stored(engine: PolicyEngine): Promise<string> {
    const to = join(folder, `saved-${made++}`);
    await mkdir(to, { recursive: true });
    await engine.save(to, { optimizer: false });
    const { path } = (await readJson(join(to, "remote-weights.json"))) as { path: string };
    const saved = `/${path.split("/").at(-1)}/`;
    const all = await readdir(files, { recursive: true });
    const found = all.find((each) => `/${each}`.includes(saved) && each.endsWith(ADAPTER_CONFIG));
    if (found === undefined) throw new Error(`no ${path} below ${files}`);
    return join(files, dirname(found));
  }

  /** One update. The rows' number is a factor of the gradient where a server takes the mean. */
  async function updated(
    engine: PolicyEngine,
    rows: readonly TrainingRow[],
    loss: LossSpec,
    factor = 1,
  ): Promise<{ gradNorm: number; after: number[] }> {
    await engine.forwardBackward(rows, loss);
    const { gradNorm } = await engine.optimStep({ ...adam, epsilon: 1e-5 / factor });
    return { gradNorm: gradNorm * factor, after: await scoresOf(engine, rows) };
  }

  it.skipIf(url === "").for(Object.keys(updates))(
    `%s: one update as the local engine's (set ${name}_URL and ${name}_MODEL to run it)`,
    async (update, { annotate }) => {
      const { loss, signed } = updates[update]!;
      const [here, there] = await bothSides();
      const rows = await rowsFor(here, signed);
      const before = await scoresOf(here, rows);
      expect(most(await scoresOf(there, rows), before)).toBeLessThan(1e-4);
      const ours = await updated(here, rows, loss);
      const theirs = await updated(there, rows, loss, scale);
      const found = {
        moved: most(ours.after, before),
        apart: most(ours.after, theirs.after),
        norms: theirs.gradNorm / ours.gradNorm,
      };
      await annotate(JSON.stringify(found));
      await Promise.all([here.close(), there.close()]);
      expect(found.moved).toBeGreaterThan(0.05);
      expect(found.apart).toBeLessThan(1e-4);
      // Some servers do not say it.
      if (!Number.isNaN(found.norms)) expect(found.norms).toBeCloseTo(1, 5);
    },
  );

  it.skipIf(url === "")(
    "resumed with the optimizer's state: the same next step",
    async ({ annotate }) => {
      const { loss } = updates["GRPO with KL"]!;
      const first = await open();
      const rows = await rowsFor(first, false);
      await updated(first, rows, loss, scale);
      const to = join(folder, `resumed-${made++}`);
      await mkdir(to, { recursive: true });
      await first.save(to, { optimizer: true });
      const kept = await updated(first, rows, loss, scale);
      await first.close();
      const second = await open();
      await second.load(to);
      const resumed = await updated(second, rows, loss, scale);
      await second.close();
      const apart = most(kept.after, resumed.after);
      await annotate(JSON.stringify({ apart }));
      expect(apart).toBeLessThan(1e-4);
    },
  );

  it.skipIf(url === "" || !samples)(
    "samples have the trainer's log-probabilities",
    async ({ annotate }) => {
      const engine = await open();
      const promptIds = [5, 90, 700, 41, 12];
      const { ids, logprobs } = await engine.sample({
        promptIds,
        maxTokens: 24,
        stopIds: [],
        stopStrings: [],
        seed: 3,
        temperature: 1,
        topP: 1,
        topK: 0,
        sequence: null,
      });
      const all = [...promptIds, ...ids];
      const weights = all.slice(1).map((_, i) => (i < promptIds.length - 1 ? 0 : 1));
      const [scored] = await engine.logprobs([
        { inputs: all.slice(0, -1), targets: all.slice(1), fields: { weights } },
      ]);
      await engine.close();
      const apart = most([...scored!].slice(promptIds.length - 1), [...logprobs]);
      await annotate(JSON.stringify({ apart, tokens: ids.length }));
      expect(apart).toBeLessThan(1e-4);
    },
  );
});

/** Rows near the policy; where `signed`, the second has negative weights. */
async function rowsFor(engine: PolicyEngine, signed: boolean): Promise<TrainingRow[]> {
  const draw = random(5);
  const rows = [24, 9, 17].map((length, r): TrainingRow => {
    const ids = Array.from({ length: length + 1 }, () => draw.int(2000));
    const side = signed && r === 1 ? -1 : 1;
    const weights = Array.from({ length }, () => (draw.next() < 0.3 ? 0 : side * 0.02));
    return { inputs: ids.slice(0, -1), targets: ids.slice(1), fields: { weights } };
  });
  const scored = await engine.logprobs(rows);
  return rows.map((row, i) => {
    const near = (): number[] => Array.from(scored[i]!, (each) => each + draw.next() - 0.5);
    const advantages = row.targets.map(() => draw.next() * 2 - 1);
    const fields = { oldLogprobs: near(), refLogprobs: near(), advantages };
    return { ...row, fields: { ...row.fields, ...fields } };
  });
}

async function scoresOf(engine: PolicyEngine, rows: readonly TrainingRow[]): Promise<number[]> {
  return (await engine.logprobs(rows)).flatMap((row) => [...row]);
}

function most(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((v, i) => Math.abs(v - other[i]!)).filter((v) => !Number.isNaN(v)));
}
