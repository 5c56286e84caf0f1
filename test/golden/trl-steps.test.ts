import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalEngine } from "../../src/engine/local/local-engine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { maskOf, ownUpdates, replayRun, settingsOf, TRL_CASES, type TrlRun, writeQwen2 } from "../helpers/trl-steps.ts";

const folder = temporaryFolder();
const model = await writeQwen2(folder);

describe.each(TRL_CASES)("$name", (trlCase) => {
  it("x", async () => {
    const run = JSON.parse(readFileSync(join(import.meta.dirname, "trl-steps", `${trlCase.name}.json`), "utf8")) as TrlRun;
    const { settings } = await settingsOf(trlCase, model);
    for (const epsilon of [1e-4, 1e-6]) {
    const engine = await openLocalEngine({ model, workers: 1, threads: 1 });
    const t0 = performance.now();
    const own = await ownUpdates(run, settings, engine, { epsilon });
    console.log(trlCase.name, epsilon, "ms", performance.now() - t0);
    for (const [u, mine] of own.entries()) {
      const theirs = run.updates[u]!;
      let worst = 0, maskWrong = 0, adv = 0;
      mine.rows.forEach((row, i) => {
        const r = run.rollouts[theirs.rollout]![theirs.rows[i]!]!;
        const ids = [...row.inputs, ...row.targets.slice(-1)];
        const whole = [...r.promptIds, ...r.completionIds];
        const mask = [...r.promptIds.map(() => 0), ...maskOf(r)].slice(1);
        if (JSON.stringify(ids) !== JSON.stringify(whole) || JSON.stringify(mask) !== JSON.stringify(row.lossMask)) maskWrong++;
        if (r.reward !== row.trajectory.reward) maskWrong += 100;
        adv = Math.max(adv, Math.abs((row.advantages.find((a) => a !== 0) ?? 0) - r.advantage));
        mine.logprobs[i]!.forEach((l, t) => { worst = Math.max(worst, Math.abs(l - theirs.logprobs[i]![t]!)); });
      });
      console.log(u, mine.loss, theirs.loss, mine.loss - theirs.loss, "norm", mine.gradNorm, theirs.gradNorm, "logp", worst, "wrong", maskWrong, "adv", adv);
    }
    await engine.close();
    }
    expect(replayRun).toBeDefined();
  });
});
