import { describe, expect, it } from "vitest";
import { scriptedPolicy, type TokenPolicy } from "../../../src/rollout/policy.ts";
import type { RolloutOptions } from "../../../src/rollout/record.ts";
import { external } from "../../../src/rollout/strategies/external.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { rolloutOptions, searchEnvironment, task, tokenizer } from "../../helpers/search-world.ts";

/** What the agents below share: a request to the policy, as any HTTP client sends it. */
const ASK = `
const ask = async (messages, more = {}) => {
  const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ messages, ...more }),
  });
  if (!response.ok) throw new Error(response.status + " " + (await response.text()));
  return (await response.json()).choices[0].message.content;
};
const user = (content) => ({ role: "user", content });
const eachLine = async (answer) => {
  for await (const line of require("node:readline").createInterface({ input: process.stdin }))
    console.log(await answer(line));
};`;

/** An agent that stays, whose `answer` is this function. */
const staying = (answer: string): string[] => [
  process.execPath,
  "-e",
  `${ASK} eachLine(${answer});`,
];

const searching = `async (question) => {
  const messages = [user(question)];
  const first = await ask(messages, { stop: ["</search>"], temperature: 0, seed: 1 });
  messages.push({ role: "assistant", content: first + "</search>" }, user(" found "));
  return (await ask(messages)).match(/<answer>(.*)<.answer>/)[1];
}`;

/** Searches first, then answers with the last letters of the question. */
const policy = (): TokenPolicy =>
  scriptedPolicy(tokenizer, ({ promptIds }) => {
    const prompt = tokenizer.decode(promptIds);
    const answered = `<answer>${prompt.slice(0, 3)}</answer>`;
    return prompt.includes("found") ? answered : "<search> Norway</search>";
  });

const play = (
  command: readonly string[],
  settings: object = {},
  changes: Partial<RolloutOptions> = {},
): Promise<Trajectory> =>
  external.run(rolloutOptions({ policy: policy(), ...changes }), { command, ...settings });

describe("strategy external", () => {
  it("records what an agent asks as one trajectory in the policy's own tokens", async () => {
    const trajectory = await play(staying(searching));
    expect(trajectory).toMatchObject({ answer: "Wha", end: "answered" });
    expect(trajectory.calls.map(({ parent }) => parent)).toEqual([null, 0]);
    const owners = trajectory.calls.flatMap(({ prompt, completion }) =>
      [...prompt, ...completion].map(({ owner }) => owner),
    );
    expect(owners).toEqual(["template", "policy", "environment", "policy"]);
    expect(trajectory.turns).toMatchObject([
      {
        text: "<search> Norway</search>",
        actions: [{ tool: "search", input: "Norway" }],
        observations: [{ tool: "search", text: " found " }],
      },
      { text: "<answer>Wha</answer>", actions: [{ tool: "answer", input: "Wha" }] },
    ]);
  });

  it("answers many questions by few agents, each with its own conversation", async () => {
    const own = policy();
    const names = ["aaa", "bbb", "ccc", "ddd", "eee"];
    const trajectories = await Promise.all(
      names.map((name) =>
        play(
          staying(searching),
          { processes: 2 },
          { policy: own, id: name, task: { ...task, question: `${name}\n ${name}` } },
        ),
      ),
    );
    expect(trajectories.map(({ answer }) => answer)).toEqual(names);
    for (const { calls } of trajectories) expect(calls).toHaveLength(2);
  });

  it("starts an agent for every question where the command takes it", async () => {
    const code = `${ASK} ask([user(process.argv[1])]).then((said) => console.log("noise\\n" + process.argv[1].slice(-1)));`;
    const command = [process.execPath, "-e", code, "{question}"];
    const trajectory = await play(command);
    expect(trajectory).toMatchObject({ answer: "?", end: "answered" });
    expect(trajectory.calls).toHaveLength(1);
  });

  it("draws as the recipe says, whatever the agent asks for", async () => {
    const seen: object[] = [];
    const scripted = policy();
    const own: TokenPolicy = {
      ...scripted,
      complete: (request) => {
        const { temperature, topP, maxTokens, seed } = request;
        seen.push({ temperature, topP, maxTokens, seed });
        return scripted.complete(request);
      },
    };
    const environment = searchEnvironment({
      budgets: [{ scope: "turn", unit: "tokens", limit: 30, onExhausted: "cut" }],
    });
    const sampling = { temperature: 1, topP: 0.9, topK: 0 };
    const agent = `async (q) => (await ask([user(q)], { temperature: 0, seed: 1, max_tokens: 99 }))`;
    for (const seed of [1, 2]) await play(staying(agent), {}, { policy: own, environment, sampling, seed }); // prettier-ignore
    expect(seen).toMatchObject([1, 2].map(() => ({ temperature: 1, topP: 0.9, maxTokens: 30 })));
    expect(new Set(seen.map((each) => (each as { seed: number }).seed)).size).toBe(2);
  });

  it("takes a reward from the agent, and drops a rollout without one", async () => {
    const reporting = (reward: string): string[] =>
      staying(`async (q) => { await ask([user(q)]); return '{"answer": "Oslo"${reward}}'; }`);
    const rewarded = await play(reporting(', "reward": 0.5'), { reward: "agent" });
    expect(rewarded).toMatchObject({ answer: "Oslo", turns: [{ reward: 0.5 }] });
    const without = await play(reporting(""), { reward: "agent" });
    expect(without).toMatchObject({ error: { boundary: "agent", code: "AGENT_FAILED" } });
    expect(without.error?.message).toContain("no reward");
    expect((await play(reporting(""))).answer).toBe("Oslo");
  });

  it.each([
    ["ends", [process.execPath, "-e", "console.error('boom'); process.exit(3)"], /status 3.*boom/s],
    ["cannot be started", ["./no-such-agent"], /could not be started/],
    ["does not ask the policy", staying("async () => 'Oslo'"), /without asking/],
    [
      "fails at one question",
      [process.execPath, "-e", "process.exit(2)", "{question}"],
      /status 2/,
    ],
  ])("records the failure of an agent that %s", async (_, command, message) => {
    const trajectory = await play(command);
    expect(trajectory).toMatchObject({ answer: null, end: "model-error", reward: null });
    expect(trajectory.error).toMatchObject({ boundary: "agent", code: "AGENT_FAILED" });
    expect(trajectory.error?.message).toMatch(message);
  });

  it("ends an agent that hangs, and starts another one", async () => {
    const own = policy();
    const agent = `async (q) => q === "hang" ? new Promise(() => setInterval(() => 0, 1000)) : (${searching})(q)`;
    const settings = { processes: 1, timeoutSeconds: 1.5 };
    const ask = (question: string) =>
      play(staying(agent), settings, { policy: own, task: { ...task, question } });
    const [first, hung, last] = await Promise.all([ask("aaa"), ask("hang"), ask("bbb")]);
    expect(hung).toMatchObject({ end: "timeout", error: { code: "AGENT_TIMEOUT" } });
    expect([first.answer, last.answer]).toEqual(["aaa", "bbb"]);
  });

  it("takes an empty line for no answer", async () => {
    const agent = `async (q) => { await ask([user(q)]); return ""; }`;
    const trajectory = await play(staying(agent), { timeoutSeconds: 5 });
    expect(trajectory).toMatchObject({ answer: null, end: "no-answer" });
    expect(trajectory.error).toBeUndefined();
  });

  it("goes on with new agents where some end between questions", async () => {
    const own = policy();
    const agent = `async (q) => { globalThis.n = (globalThis.n ?? 0) + 1; if (n % 3 === 0) process.exit(1); return (${searching})(q); }`;
    const names = Array.from({ length: 8 }, (_, i) => `q${i}:`);
    const played = await Promise.all(
      names.map((question) =>
        play(
          staying(agent),
          { processes: 2, timeoutSeconds: 5 },
          { policy: own, id: question, task: { ...task, question } },
        ),
      ),
    );
    const answers = played.flatMap(({ answer }) => answer ?? []);
    expect(answers).toEqual(names.filter((_, i) => played[i]?.error === undefined));
    expect(new Set(played.flatMap(({ error }) => error?.code ?? []))).toEqual(
      new Set(["AGENT_FAILED"]),
    );
    expect(answers.length).toBeGreaterThan(4);
  });

  it("ends at a full context, which is the policy's limit and no failure", async () => {
    const environment = searchEnvironment({
      budgets: [{ scope: "context", unit: "tokens", limit: 10, onExhausted: "end" }],
    });
    const trajectory = await play(staying(searching), {}, { environment });
    expect(trajectory).toMatchObject({ end: "context-limit", answer: null });
    expect(trajectory.error).toBeUndefined();
  });

  it("throws the policy's own failure, and stops when the run does", async () => {
    const broken: TokenPolicy = {
      ...policy(),
      complete: () => Promise.reject(new Error("engine")),
    };
    await expect(play(staying(searching), {}, { policy: broken })).rejects.toThrow("engine");
    const run = new AbortController();
    const hanging = play(staying("() => new Promise(() => 0)"), {}, { signal: run.signal });
    setTimeout(() => {
      run.abort(new Error("interrupted"));
    }, 100);
    await expect(hanging).rejects.toThrow("interrupted");
  });

  it("does not take a policy behind a server", async () => {
    const remote = { role: "policy", takesPrefill: false, open: () => null as never };
    await expect(play(staying(searching), {}, { policy: remote })).rejects.toThrow(
      errorWith("STRATEGY_UNFIT"),
    );
  });
});
