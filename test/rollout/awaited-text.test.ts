import { describe, expect, it } from "vitest";
import type { Budget } from "../../src/env/budget.ts";
import { type AwaitedTurn, awaitedText } from "../../src/rollout/awaited-text.ts";
import { emptyTrajectory } from "../../src/rollout/record.ts";
import { dialogueSetting, rollOut } from "../../src/rollout/roll-out.ts";
import { openDialogue } from "../../src/rollout/token-dialogue.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { rolloutOptions, searchEnvironment, tokenizer } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const budgets: Budget[] = [
  { scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" },
  { scope: "turn", unit: "tokens", limit: 12, onExhausted: "cut" },
  { scope: "observation", unit: "tokens", limit: 5, onExhausted: "cut" },
];

/** A policy of fixed messages that notes what it was asked. */
function noting(messages: readonly string[], counting: Parameters<typeof awaitedText>[1]) {
  const asked: AwaitedTurn[] = [];
  const write = (turn: AwaitedTurn) => {
    asked.push(turn);
    return Promise.resolve(messages[asked.length - 1] ?? "<answer>none</answer>");
  };
  return { asked, policy: awaitedText(write, counting) };
}

describe("a policy whose messages are awaited", () => {
  it("grows one conversation, which opens once", async () => {
    const { asked, policy } = noting(["<search>Norway</search>", "<answer>Oslo</answer>"], null);
    const { turns, answer } = await rollOut(rolloutOptions({ policy }));
    expect(answer).toBe("Oslo");
    expect(
      asked.map(({ opens, conversation }) => [opens, conversation.map(({ role }) => role)]),
    ).toEqual([
      [true, ["user"]],
      [false, ["user", "assistant", "user"]],
    ]);
    expect(asked[1]?.conversation[1]?.content).toBe(turns[0]?.text);
  });

  it("cuts a message after its stop string, and completes one that lacks only it", async () => {
    const { policy } = noting(["<search>Norway</search> and more", "<search>Peru"], null);
    const { turns, calls } = await rollOut(rolloutOptions({ policy }));
    expect(turns[0]?.text).toBe("<search>Norway</search>");
    expect(turns[1]?.text).toBe("<search>Peru</search>");
    expect(calls.map(({ finish }) => finish)).toEqual(["stop", "stop", "eos"]);
  });

  it("counts budgets in the client's tokens where it has a tokenizer", async () => {
    const environment = searchEnvironment({ budgets });
    const long = `${"word ".repeat(30)}<answer>late</answer>`;
    const { asked, policy } = noting(["<search>Norway</search>", long], tokenizer);
    const { turns, calls } = await rollOut(rolloutOptions({ policy, environment }));
    expect(tokenizer.encode(asked[1]!.conversation[2]!.content!)).toHaveLength(5);
    expect(turns[0]?.observations[0]?.cut).toBe(true);
    expect(tokenizer.encode(turns[1]!.text)).toHaveLength(12);
    expect(calls[1]).toMatchObject({ finish: "length", usage: { completionTokens: 12 } });
    expect(calls[1]?.usage?.promptTokens).toBeGreaterThan(12);
  });

  it("does not cut messages where tokens are estimated", async () => {
    const environment = searchEnvironment({ budgets });
    const long = `${"word ".repeat(30)}<answer>late</answer>`;
    const { policy } = noting([long], null);
    expect((await rollOut(rolloutOptions({ policy, environment }))).answer).toBe("late");
  });

  it("opens a conversation for each prompt that a strategy writes", async () => {
    const { asked, policy } = noting([], null);
    await strategies.get("self-consistency", "test").run(rolloutOptions({ policy }), { draws: 2 });
    expect(asked.map(({ opens }) => opens)).toEqual([true, true]);
  });

  it("continues a prefill and inserted hints where it takes them, in budgets of its own tokens", async () => {
    const turns: AwaitedTurn[] = [];
    const write = (turn: AwaitedTurn) => {
      turns.push(turn);
      return Promise.resolve([" Norway", "</search> too far"][turns.length - 1] ?? "");
    };
    const { policy: asked, ...options } = rolloutOptions({
      policy: awaitedText(write, tokenizer, { takesPrefill: true }),
    });
    const trajectory = emptyTrajectory({ policy: asked, ...options });
    const dialogue = openDialogue(
      asked,
      dialogueSetting({ policy: asked, ...options }, trajectory),
    );
    const inputs = [
      { owner: "template", text: "Where is Oslo?" },
      { owner: "inserted", text: "<search>" },
    ] as const;
    const hint = { name: "more", keep: 7, text: " capital" };
    const message = await dialogue.write(inputs, options.signal, (_, put) =>
      put.length === 0 ? hint : null,
    );
    expect(message?.text).toBe(" Norway capital</search>");
    expect(turns.map(({ prefill }) => prefill)).toEqual(["<search>", "<search> Norway capital"]);
    expect(turns[0]!.maxTokens - turns[1]!.maxTokens).toBe(2);
    expect(turns[1]!.isWhole("<search> Norway</search>")).toBe(true);
    expect(trajectory.calls[0]).toMatchObject({ finish: "stop", usage: { completionTokens: 3 } });
    expect(trajectory.calls[0]?.completion.map(({ owner, text }) => [owner, text])).toEqual([
      ["inserted", "<search>"],
      ["policy", " Norway"],
      ["inserted", " capital"],
      ["policy", "</search>"],
    ]);
  });
});
