import { describe, expect, it } from "vitest";
import { openWaits } from "../../../src/base/waits/waits.ts";
import { requireSearching } from "../../../src/env/environments/environment.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { scoreTrajectories } from "../../../src/rollout/score.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { handClock } from "../../helpers/hand-clock.ts";
import { corpus, replay, rolloutOptions, task } from "../../helpers/search-world.ts";
import { waitingRetriever } from "../../helpers/waiting-retriever.ts";

const SEARCH = "<search>capital Norway</search>";
const ANSWER = "<answer>Oslo</answer>";

/** Rollouts in an environment whose searches for "stuck" nobody ever answers. */
function world({ deaf }: { deaf: boolean }) {
  const clock = handClock();
  const register = openWaits(clock);
  const stuck = waitingRetriever({ deaf });
  const retriever: Retriever = {
    ...corpus,
    search: (queries, ...rest) =>
      (queries[0] === "stuck" ? stuck : corpus).search(queries, ...rest),
  };
  const resources = { retriever, deadlineMs: 120_000, register };
  const environment = environments.get("search-qa", "test").create({}, resources);
  const play = (id: string, ...messages: string[]): Promise<Trajectory> =>
    rollOut(rolloutOptions({ policy: replay(messages), environment, id }));
  return { clock, register, stuck, environment, play };
}

describe.each([{ deaf: false }, { deaf: true }])(
  "a search that hangs, its signal heard: not $deaf",
  ({ deaf }) => {
    it("ends its trajectory as a tool's error, which is not scored, while the siblings go on", async () => {
      const { clock, register, stuck, play } = world({ deaf });
      const hanging = play("3-1-2", "<search>stuck</search>", ANSWER);
      const sibling = await play("3-1-3", SEARCH, ANSWER);
      expect(sibling).toMatchObject({ end: "answered", answer: "Oslo" });
      const { signal } = await stuck.next();
      await clock.pass(119_999);
      expect(signal?.aborted).toBe(false);
      await clock.pass(1);
      const failed = await hanging;
      expect(signal?.aborted).toBe(true);
      expect(failed).toMatchObject({
        end: "tool-error",
        answer: null,
        error: {
          boundary: "tool",
          code: "TOOL_TIMEOUT",
          message:
            'tool corpus-search: no answer in 120 s for trajectory 3-1-2 (query "stuck"). Look whether what it asks is stuck; deadlines.toolSeconds sets the limit.',
        },
      });
      const scored = [failed, sibling].map((trajectory) => ({ trajectory, task }));
      await scoreTrajectories(scored, [{ name: "exact-match", weight: 1, options: {} }]);
      expect([failed.reward, sibling.reward]).toEqual([null, 1]);
      expect(register.size).toBe(0);
    });
  },
);

describe("a search that lasts", () => {
  it("is told: which tool is waited for, for which trajectory and query", async () => {
    const { clock, register, stuck, play } = world({ deaf: false });
    const told: string[] = [];
    register.watch({ noticeMs: 30_000, onLong: (message) => told.push(message) });
    const rollout = play("3-1-2", "<search>stuck</search>", ANSWER);
    const { answer } = await stuck.next();
    await clock.pass(30_000);
    answer();
    expect(await rollout).toMatchObject({ end: "answered" });
    await clock.pass(600_000);
    expect(told).toEqual([
      expect.stringMatching(
        /^waiting 30 s: tool corpus-search for trajectory 3-1-2 \(query "stuck"\), since [\d:]{8}; deadline 120 s$/,
      ),
    ]);
  });

  it("outside a trajectory is told by its question", async () => {
    const { clock, stuck, environment } = world({ deaf: true });
    const { signal } = new AbortController();
    const search = requireSearching(environment).search("stuck", { task }, signal);
    const outcome = expect(search).rejects.toThrow(
      errorWith("TOOL_TIMEOUT", 'for task capital (query "stuck")'),
    );
    await stuck.next();
    await clock.pass(120_000);
    await outcome;
  });

  it("stops with the run", async () => {
    const { register, stuck, environment } = world({ deaf: false });
    const run = new AbortController();
    const search = requireSearching(environment).search("stuck", { task }, run.signal);
    await stuck.next();
    run.abort(new Error("interrupted"));
    await expect(search).rejects.toThrow("interrupted");
    expect(register.size).toBe(0);
  });
});
