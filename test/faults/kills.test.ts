import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { random, type Random } from "../../src/base/random.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Ended, runAgentrl } from "./agentrl-process.ts";
import { drawMoment, killAt, type KilledCommand } from "./kills.ts";
import { PIPELINE, type PipelineCommand } from "./pipeline.ts";
import { differences, productHashes } from "./same-products.ts";

/** Processes killed in all. `npm run test:faults` takes 50. */
const KILLS = Number(process.env["FAULT_KILLS"] ?? 6);
/** Which moments: what failed once fails again under its seed, as far as the machine is as fast. */
const SEED = process.env["FAULT_SEED"] ?? "1";
/** Every kill as a line of JSON. */
const LOG = process.env["FAULT_LOG"];
/** Kills from one empty folder to one evaluation. */
const KILLS_A_PASS = 6;

const root = temporaryFolder();
const folders = PIPELINE.map(({ product }) => product);
const durations = new Map<string, number>();
let straight: Record<string, string>;

beforeAll(async () => {
  const cwd = folderNamed("straight");
  for (const command of PIPELINE) {
    const ended = await runAgentrl(command.args, { cwd });
    expect(ended.status, ended.stderr).toBe(0);
    durations.set(command.name, ended.ms);
  }
  straight = productHashes(cwd, folders);
  log({ straight: Object.fromEntries(durations), files: Object.keys(straight).length });
}, 600_000);

describe("index, synth-data, sft, train and eval", () => {
  it(
    `killed at ${KILLS} random moments and gone on with, leave the same bytes as a straight run`,
    { timeout: KILLS * 60_000 },
    async () => {
      const draw = random(SEED);
      for (let [pass, killed] = [1, 0]; killed < KILLS; pass++) {
        const cwd = folderNamed(`pass-${pass}`);
        const plan = planOf(draw, Math.min(KILLS_A_PASS, KILLS - killed));
        const kills: object[] = [];
        for (const command of PIPELINE) {
          const outcomes = await killOften(command, { cwd, moments: plan.get(command.name) ?? [] });
          kills.push(...outcomes.map((outcome) => ({ command: command.name, ...outcome })));
          killed += outcomes.filter((outcome) => outcome.killed).length;
        }
        const different = differences(straight, productHashes(cwd, folders));
        log({ pass, killed, seed: SEED, kills, different });
        expect(different, JSON.stringify({ seed: SEED, pass, kills }, null, 1)).toEqual([]);
      }
    },
  );
});

function folderNamed(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  return path;
}

function log(line: object): void {
  if (LOG !== undefined) appendFileSync(LOG, `${JSON.stringify(line)}\n`);
}

/** So many kills, the more of a command the longer it takes; a short one still gets its share. */
function planOf(draw: Random, count: number): Map<string, KilledCommand["moment"][]> {
  const total = [...durations.values()].reduce((sum, each) => sum + each, 0);
  const weights = PIPELINE.map(({ name }) => Math.max(durations.get(name) ?? 0, total / 12));
  const plan = new Map<string, KilledCommand["moment"][]>();
  for (let kill = 0; kill < count; kill++) {
    const { name } = weighted(draw, weights);
    const planned = plan.get(name) ?? [];
    // What was killed before has less left to do.
    const left = (durations.get(name) ?? 0) * Math.max(0.4, 1 - 0.3 * planned.length);
    plan.set(name, [...planned, drawMoment(draw, left)]);
  }
  return plan;
}

function weighted(draw: Random, weights: readonly number[]): PipelineCommand {
  let at = draw.next() * weights.reduce((sum, each) => sum + each, 0);
  const place = weights.findIndex((weight) => (at -= weight) < 0);
  return PIPELINE.at(place)!;
}

/** Kills a command at each moment, goes on with it each time, and at last to its end. */
async function killOften(
  command: PipelineCommand,
  { cwd, moments }: { cwd: string; moments: readonly KilledCommand["moment"][] },
): Promise<KilledCommand[]> {
  const outcomes: KilledCommand[] = [];
  const next = (): PipelineCommand => {
    const resume = outcomes.length > 0 ? command.resume : [];
    return { ...command, args: [...command.args, ...resume] };
  };
  for (const moment of moments) {
    const outcome = await killAt(next(), cwd, moment);
    outcomes.push(outcome);
    if (outcome.killed) continue;
    expectDone(command, outcome, outcomes);
    return outcomes;
  }
  expectDone(command, await runAgentrl(next().args, { cwd }), outcomes);
  return outcomes;
}

function expectDone(
  { name, finished }: PipelineCommand,
  { status, stderr }: Pick<Ended, "status" | "stderr">,
  kills: readonly KilledCommand[],
): void {
  if (kills.length > 0 && finished.some((code) => stderr.includes(`[${code}]`))) return;
  expect(status, `${name}, seed ${SEED}: ${stderr}\n${JSON.stringify(kills, null, 1)}`).toBe(0);
}
