import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { http } from "../../src/rewards/http.ts";
import type { Scored } from "../../src/rewards/reward.ts";
import { scoreTrajectories } from "../../src/rollout/score.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const of = (answer: string | null, id = answer ?? "none"): Scored => ({
  task,
  trajectory: answered(answer, { id }),
});

/** Scores by what the answer is. */
const byAnswer = await localServer((asked, response) => {
  const { answer } = JSON.parse(asked.body) as { answer: string | null };
  answers[answer ?? "none"]?.(response);
});
const score = (response: ServerResponse, value: unknown): void => {
  sendJson(response, { score: value });
};
const answers: Record<string, (response: ServerResponse) => void> = {
  Oslo: (response) => {
    score(response, 0.75);
  },
  none: (response) => {
    score(response, null);
  },
  odd: (response) => {
    score(response, "high");
  },
  refused: (response) => {
    sendJson(response, { error: "no such task" }, 422);
  },
};

describe("the reward of a server", () => {
  it("sends question, gold answers, answer and transcript, and takes the score", async () => {
    const turn = {
      call: 0,
      text: "<search>capital</search>",
      actions: [],
      problems: [],
      observations: [{ tool: "search", text: "Oslo is the capital." }],
    };
    const scored = { task, trajectory: answered("Oslo", { turns: [turn] }) };
    expect(await scoreWith(http, [scored], { url: byAnswer.url })).toEqual([0.75]);
    expect(JSON.parse(byAnswer.received.at(-1)?.body ?? "")).toEqual({
      taskId: task.id,
      question: task.question,
      references: task.references,
      answer: "Oslo",
      end: "answered",
      transcript: [
        { role: "assistant", content: "<search>capital</search>" },
        { role: "tool", name: "search", content: "Oslo is the capital." },
      ],
    });
  });

  it("leaves what the server cannot score, or answers wrongly, unscored, and scores the rest", async () => {
    const scored = ["Oslo", null, "odd", "refused"].map((answer) => of(answer));
    const [right, none, odd, refused] = await scoreWith(http, scored, { url: byAnswer.url });
    expect([right, none]).toEqual([0.75, null]);
    expect(odd).toBeInstanceOf(RolloutError);
    expect(odd).toMatchObject({ code: "HTTP_BAD_REPLY" });
    expect(refused).toMatchObject({ code: "HTTP_STATUS" });
  });

  it("asks about equal trajectories once", async () => {
    byAnswer.received.length = 0;
    const options = { url: byAnswer.url };
    expect(await scoreWith(http, [of("Oslo", "a"), of("Oslo", "b")], options)).toEqual([
      0.75, 0.75,
    ]);
    expect(byAnswer.received).toHaveLength(1);
  });

  it("tries again, with so many requests at once as it may", async () => {
    let open = 0;
    let most = 0;
    const busy = await localServer((_, response, count) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        if (count === 1) sendJson(response, {}, 503);
        else score(response, 1);
      }, 20);
    });
    const scored = ["a", "b", "c", "d", "e"].map((answer) => of(answer));
    const options = { url: busy.url, concurrency: 2, retryDelayMs: 1 };
    expect(await scoreWith(http, scored, options)).toEqual([1, 1, 1, 1, 1]);
    expect(most).toBe(2);
    expect(busy.received).toHaveLength(6);
  });

  it("sends the token that its variable holds, and names a variable that is not set", async () => {
    process.env["REWARD_TOKEN"] = "secret";
    await scoreWith(http, [of("Oslo")], { url: byAnswer.url, apiKeyEnv: "REWARD_TOKEN" });
    expect(byAnswer.received.at(-1)?.headers.authorization).toBe("Bearer secret");
    delete process.env["REWARD_TOKEN"];
    const missing = scoreWith(http, [of("Oslo")], { url: byAnswer.url, apiKeyEnv: "REWARD_TOKEN" });
    await expect(missing).rejects.toMatchObject({ code: "HTTP_KEY_MISSING" });
  });

  it("leaves all unscored at once where the server is down, and the run is told", async () => {
    const down = await localServer(() => undefined);
    await down.close();
    const scored = Array.from({ length: 40 }, (_, i) => of(`answer ${i}`));
    const options = http.options.parse({ url: down.url, retries: 0, concurrency: 4 });
    const unscored = await scoreTrajectories(scored, [{ name: "http", weight: 1, options }]);
    expect(unscored).toMatchObject([
      { reward: "http", trajectories: 40, code: "HTTP_UNREACHABLE" },
    ]);
    expect(scored.every(({ trajectory }) => trajectory.reward === null)).toBe(true);
  });
});
