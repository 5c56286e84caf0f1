import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { tarContent } from "../../../src/data/cards/tar.ts";
import type { PolicyEngine, TrainingRow } from "../../../src/engine/engine.ts";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import { openRemote } from "../../../src/engine/tinker/open-remote.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from "../../../src/models/lora/adapter-folder.ts";
import { openRemoteEngine, SMALL, smallLora } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

// A running SkyRL (0.4, JAX) and the folder of its base model; docs/remote-engines.md has the command.
const url = process.env["SKYRL_URL"] ?? "";
const model = process.env["SKYRL_MODEL"] ?? "";
const folder = temporaryFolder();

/** The adapters that the server makes with the tests' seed, which no client can choose. */
async function freshAdapters(): Promise<string> {
  const server = {
    url,
    model: null,
    dialect: "skyrl-jax",
    apiKeyEnv: null,
    stallMs: 200_000,
  } as const;
  const remote = await openRemote({ model, lora: smallLora, server });
  const archive = await remote.policy.archive();
  await remote.policy.unload();
  remote.endHeartbeat();
  if (archive === null || archive instanceof URL) throw new Error("SkyRL exports no adapters");
  const packed = join(folder, "adapter.tar.gz");
  const to = join(folder, "fresh");
  await mkdir(to, { recursive: true });
  await writeFile(packed, archive);
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS]) {
    const parts: Buffer[] = [];
    for await (const part of (await tarContent(packed, (path) => path.endsWith(name))) ?? [])
      parts.push(part);
    await writeFile(join(to, name), Buffer.concat(parts));
  }
  return to;
}

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

const updates: Record<string, { loss: LossSpec; signed: boolean }> = {
  "PPO clip": { loss: { name: "policy-gradient", options: { clipHigh: 0.28 } }, signed: false },
  "GRPO with KL": {
    loss: { name: "policy-gradient", options: { klCoef: 0.05, klEstimator: "k3" } },
    signed: false,
  },
  // DPO goes into token weights, those of the rejected completion negative.
  DPO: { loss: { name: "cross-entropy", options: {} }, signed: true },
};

describe.skipIf(url === "")("updates at SkyRL (set SKYRL_URL and SKYRL_MODEL to run it)", () => {
  it.each(Object.keys(updates))("%s: one update as the local engine's", async (name) => {
    const { loss, signed } = updates[name]!;
    const here = await openLocalEngine({ model: await freshAdapters(), base: model, ...SMALL });
    const there = await openRemoteEngine(model, url, { dialect: "skyrl-jax" });
    const rows = await rowsFor(here, signed);
    const before = (await here.logprobs(rows)).flatMap((row) => [...row]);
    const adam = {
      learningRate: 1e-2,
      beta1: 0.9,
      beta2: 0.99,
      weightDecay: 0,
      gradClipNorm: Infinity,
    };
    const norms: number[] = [];
    const after: number[][] = [];
    for (const [engine, scale] of [
      [here, 1],
      // The server takes the mean over the rows, so its gradients are smaller by their number.
      [there, 1 / rows.length],
    ] as const) {
      await engine.forwardBackward(rows, loss);
      const { gradNorm } = await engine.optimStep({ ...adam, epsilon: 1e-5 * scale });
      norms.push(gradNorm / scale);
      after.push((await engine.logprobs(rows)).flatMap((row) => [...row]));
      await engine.close();
    }
    const most = (one: number[], other: number[]): number =>
      Math.max(...one.map((v, i) => Math.abs(v - other[i]!)).filter((v) => !Number.isNaN(v)));
    expect(most(after[0]!, before)).toBeGreaterThan(0.05);
    expect(most(after[0]!, after[1]!)).toBeLessThan(1e-4);
    expect(norms[1]! / norms[0]!).toBeCloseTo(1, 5);
  });
});
