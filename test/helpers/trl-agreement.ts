import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openLocalEngine } from "../../src/engine/local/local-engine.ts";
import type { Settings } from "../../src/run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../src/run/settings/settings.ts";
import { expectClose } from "./expect-close.ts";
import { type OwnUpdate, ownUpdates } from "./trl-replay.ts";
import { settingsOf, type TrlCase, type TrlRow, type TrlRun, writeQwen2 } from "./trl-steps.ts";

const TRL_EPSILON = 1e-4;
const OWN_EPSILON = 1e-6;

/**
 * What must hold of a run of TRL, recorded or new.
 * @param runOf gives the run; the settings name a policy that is there.
 * @param epsilons further ones than TRL's, for a training each.
 */
export function describeTrlRun(
  trlCase: TrlCase,
  folder: string,
  runOf: (resolved: ResolvedSettings<Settings>) => Promise<TrlRun>,
  epsilons: readonly number[] = [OWN_EPSILON],
): void {
  describe(`TRL's steps of ${trlCase.name}`, () => {
    let run: TrlRun;
    let updates: OwnUpdate[];
    let settings: Settings;
    const train = async (epsilon: number): Promise<OwnUpdate[]> => {
      const engine = await openLocalEngine({ model: settings.policy.from, workers: 1, threads: 1 });
      const trained = await ownUpdates(run, settings, engine, epsilon);
      await engine.close();
      return trained;
    };
    const rowsOf = (u: number): TrlRow[] => {
      const { rollout, rows } = run.updates[u]!;
      return rows.map((i) => run.rollouts[rollout]![i]!);
    };
    beforeAll(async () => {
      const model = await writeQwen2(mkdtempSync(join(folder, "policy-")), trlCase.policy);
      const resolved = await settingsOf(trlCase, model);
      ({ settings } = resolved);
      run = await runOf(resolved);
      updates = await train(TRL_EPSILON);
    }, 900_000);

    it("have agentrl's tokens and mask: 0 on every observation, 1 on all that the policy wrote", () => {
      let observed = 0;
      for (const [u, { rows }] of updates.entries()) {
        for (const [i, theirs] of rowsOf(u).entries()) {
          const { inputs, targets, lossMask, owners } = rows[i]!;
          const mask = [...theirs.promptIds.map(() => 0), ...maskOf(theirs)].slice(1);
          expect([...inputs, ...targets.slice(-1)]).toEqual([
            ...theirs.promptIds,
            ...theirs.completionIds,
          ]);
          expect(mask).toEqual(lossMask);
          expect(mask).toEqual(owners.map((owner) => Number(owner === "policy")));
          expect(theirs.completionIds.filter((_, t) => maskOf(theirs)[t] === 1)).toEqual(
            keptOf(theirs, rows[i]!),
          );
          observed += owners.filter((owner) => owner === "environment").length;
        }
      }
      expect(observed).toBeGreaterThan(500);
    });

    it("have agentrl's rewards, and its advantages with TRL's epsilon", () => {
      for (const [u, { rows }] of updates.entries()) {
        for (const [i, { reward, advantage }] of rowsOf(u).entries()) {
          const { trajectory, advantages, lossMask } = rows[i]!;
          expect(trajectory.reward).toBe(reward);
          const expected = lossMask.map((each) => each * advantage);
          expectClose(advantages, expected, { atol: 1e-6 });
        }
      }
    });

    it("have agentrl's losses, gradients and log-probabilities, with the weights of agentrl's own steps", () => {
      expect(updates.length).toBeGreaterThan(1);
      for (const [u, { loss, gradNorm, logprobs }] of updates.entries()) {
        const theirs = run.updates[u]!;
        expectClose([loss, theirs.logged], [theirs.loss, theirs.loss], { atol: 1e-5, rtol: 0 });
        expectClose([gradNorm], [theirs.gradNorm], { rtol: 1e-3 });
        // Adam divides by the size of a gradient, so rounding moves a weight with a small one by as much as one with a large one.
        const atol = u === 0 ? 2e-5 : 2e-2;
        for (const [i, own] of logprobs.entries()) expectClose(own, theirs.logprobs[i]!, { atol });
      }
    });

    it.each(epsilons)(
      "have agentrl's losses with epsilon %d, but for a share of 3e-4",
      async (epsilon) => {
        const own = await train(epsilon);
        const expected = run.updates.map(({ loss }) => loss);
        // Deviations are .41 and more here: 1e-4 of that makes advantages .03 % smaller.
        expectClose(own.map(({ loss }) => loss), expected, { atol: 1e-4, rtol: 3e-4 }); // prettier-ignore
      },
    );
  });
}

/** The mask of a completion, token by token. */
function maskOf({ mask }: Pick<TrlRow, "mask">): number[] {
  return mask.flatMap((length, i) => Array<number>(length).fill(i % 2 === 0 ? 1 : 0));
}

/** The tokens that were sampled, each message up to where it was cut. */
function keptOf(
  { sampled }: TrlRow,
  { trajectory: { calls } }: OwnUpdate["rows"][number],
): number[] {
  return calls.flatMap(({ completion }, message) => {
    const length = completion.reduce((sum, { ids }) => sum + ids.length, 0);
    return sampled[message]!.slice(0, length);
  });
}
