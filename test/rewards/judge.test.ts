import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { judge } from "../../src/rewards/judge.ts";
import type { Scored } from "../../src/rewards/reward.ts";
import { endpointSchema } from "../../src/rollout/model-settings.ts";
import { endpointRole } from "../../src/rollout/roles.ts";
import { byRule, judgeServer, verdictText } from "../helpers/judge-server.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const of = (answer: string | null): Scored => ({ task, trajectory: answered(answer) });
const server = await judgeServer();
const settings = endpointSchema.parse({ baseUrl: server.endpoint, model: "m", retries: 0 });
const role = endpointRole("grader", settings);
const context = () => rewardContext({ roles: { names: ["grader"], get: () => role } });
const scores = (scored: Scored[], options: object = {}, within = context()) =>
  scoreWith(judge, scored, { role: "grader", ...options }, within);

describe("the reward judge", () => {
  it("pays for what the model accepts, after answers with known verdicts", async () => {
    server.received.length = 0;
    const within = context();
    expect(await scores([of("oslo"), of("Lima"), of(null), of("!")], {}, within)).toEqual([
      1, 0, 0, 0,
    ]);
    // The calibration and two cases: what says nothing is wrong without asking.
    const asked = server.received.length;
    expect(asked).toBe(77);
    expect(await scores([of("oslo"), of("Lima")], {}, within)).toEqual([1, 0]);
    expect(server.received).toHaveLength(asked);
  });

  it("refuses a judge that accepts everything, with both shares", async () => {
    server.behaviour = () => verdictText(true);
    const refused = scores([of("Oslo")]);
    await expect(refused).rejects.toMatchObject({ code: "JUDGE_UNCALIBRATED" });
    await expect(refused).rejects.toThrow("35 of 35 answers known to be right and rejects 0 of 40");
    expect(await scores([of("Lima")], { minCalibration: 0 })).toEqual([1]);
    server.behaviour = byRule;
  });

  it("takes a grade's place between the lowest and the highest", async () => {
    server.behaviour = ({ answer }) =>
      JSON.stringify({ reason: "", verdict: answer === "Oslo" ? "10" : "4" });
    const graded = { prompt: "graded", minCalibration: 0 };
    expect(await scores([of("Oslo"), of("Lima")], graded)).toEqual([1, 3 / 9]);
    server.behaviour = byRule;
  });

  it("asks again once after a reply that it cannot read, and then does not score", async () => {
    server.received.length = 0;
    server.behaviour = ({ answer }, request, _, count) =>
      answer === "Oslo" && count === 2 ? verdictText(true) : "I think it is correct.";
    expect(await scores([of("Oslo")], { minCalibration: 0 })).toEqual([1]);
    expect(await scores([of("Lima")], { minCalibration: 0 })).toEqual([null]);
    expect(server.received).toHaveLength(4);
    server.behaviour = byRule;
  });

  it("leaves answers unscored where the server fails", async () => {
    server.behaviour = (_, __, response) => {
      response.writeHead(400).end();
      return null;
    };
    const [failed, empty] = await scores([of("Oslo"), of("")]);
    expect(failed).toBeInstanceOf(RolloutError);
    expect(failed).toMatchObject({ code: "HTTP_STATUS" });
    expect(empty).toBe(0);
    server.behaviour = byRule;
  });
});
