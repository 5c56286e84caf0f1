import { describe, expect, it } from "vitest";
import { extractAnswer } from "../../../src/env/answer-rule.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { lintRules } from "../../../src/trajectory/lint/index.ts";
import { LINE_CODES } from "../../../src/trajectory/lint/lint-lines.ts";
import type { LintReading } from "../../../src/trajectory/lint/lint-reading.ts";
import { openLint } from "../../../src/trajectory/lint/open-lint.ts";
import type { Candidate, PreferencePair, Sample } from "../../../src/trajectory/sample.ts";
import type { Segment, Trajectory } from "../../../src/trajectory/trajectory.ts";
import {
  replay,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../../helpers/search-world.ts";

const { protocol } = searchEnvironment();
const reading: LintReading = {
  textOf: ({ ids, text }) => text ?? tokenizer.decode(ids),
  endIds: tokenizer.endIds,
  vocabSize: tokenizer.vocabSize,
  contextOf: () => ({
    temperature: 0,
    grammar: {
      findCut: (text) => protocol.findCut(text),
      renderObservations: (observations) => protocol.renderObservations(observations),
      answerOf: (texts) => extractAnswer(protocol.answer, texts),
      readsPrompt: false,
    },
  }),
};

/** Searches once, then answers after a hint; rewarded at its last token. */
async function clean(): Promise<Trajectory> {
  const messages = ["<search> capital of Norway</search>", "<answer> Oslo</answer>"];
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }));
  const [, answering] = trajectory.calls;
  const hint = " Wait";
  answering?.prompt.push({ owner: "inserted", ids: tokenizer.encode(hint), logprobs: null });
  const turn = trajectory.turns[1];
  if (turn !== undefined) turn.text = hint + turn.text;
  return {
    ...trajectory,
    hints: [{ name: "made", call: 1, text: hint }],
    rewards: [
      { name: "em", value: 1, at: null },
      { name: "format", value: null, at: { call: 1, token: 0 } },
    ],
    reward: 1,
  };
}

function found(value: unknown, using: LintReading = reading): string[] {
  const lint = openLint(using, { keep: 5 });
  lint.line(value, 1);
  return lint.report().violations.map(({ code, message }) => `${code}: ${message}`);
}

/** A part of the clean trajectory that is there. */
function at<T>(list: readonly T[], index: number): T {
  const found = list.at(index);
  if (found === undefined) throw new Error("The clean trajectory has changed.");
  return found;
}

const first = ({ calls }: Trajectory, part: "prompt" | "completion", call = 0): Segment =>
  at(at(calls, call)[part], 0);

/** What is broken, and what is then said; the first word is the rule's name. */
const cases: [broken: string, breakIt: (trajectory: Trajectory) => void, said: string | RegExp][] =
  [
    ["no group", (t) => (t.groupId = ""), "names: groupId is empty."],
    [
      "an id that no vocabulary has",
      (t) => (first(t, "prompt").ids[0] = 99_999),
      /^token-ids: calls\[0\]\.prompt\[0\] has 99999 as id 0; expected whole numbers from 0 to \d+\.$/,
    ],
    ["half an id", (t) => (first(t, "prompt").ids[0] = 0.5), /^token-ids: .* has 0\.5 as id 0/],
    [
      "both text and ids",
      (t) => (first(t, "prompt").text = "x"),
      /^text-and-ids: calls\[0\]\.prompt\[0\]/,
    ],
    [
      "a log-probability too few",
      (t) => first(t, "completion").logprobs?.pop(),
      /^logprob-count: calls\[0\]\.completion\[0\] has (\d+) ids and \d+ log-probabilities/,
    ],
    [
      "a log-probability above 0",
      (t) => first(t, "completion").logprobs?.splice(1, 1, 0.25),
      "logprob-value: calls[0].completion[0] has 0.25 as log-probability 1; expected a number up to 0.",
    ],
    [
      "a log-probability that was no number",
      (t) => first(t, "completion").logprobs?.splice(1, 1, NaN),
      "logprob-value: calls[0].completion[0] has null as log-probability 1; expected a number up to 0.",
    ],
    [
      "no log-probabilities where the policy wrote",
      (t) => (first(t, "completion").logprobs = null),
      /^logprob-place: calls\[0\]\.completion\[0\] has owner policy but no log-probabilities/,
    ],
    [
      "log-probabilities of an observation",
      (t) => (first(t, "prompt", 1).logprobs = first(t, "prompt", 1).ids.map(() => 0)),
      /^logprob-place: calls\[1\]\.prompt\[0\] has owner environment/,
    ],
    [
      "a token at temperature 0 that cannot have been the likeliest",
      (t) => first(t, "completion").logprobs?.splice(0, 1, -20),
      /^logprob-greedy: calls\[0\]\.completion\[0\] has -20 as log-probability 0, sampled at temperature 0; the likeliest of \d+ ids has at least −\d\.\d\d\.$/,
    ],
    [
      "an observation that would be trained on",
      (t) => {
        const shown = first(t, "prompt", 1);
        shown.owner = "policy";
        shown.logprobs = shown.ids.map(() => 0);
      },
      /^owner: calls\[1\]\.prompt\[0\] has owner policy but is in a prompt/,
    ],
    [
      "an observation within a message",
      (t) => at(t.calls, 0).completion.push({ owner: "environment", ids: [], logprobs: null }),
      /^owner: calls\[0\]\.completion\[1\] has owner environment but is in a completion/,
    ],
    [
      "words after the end token",
      (t) => {
        const { ids, logprobs } = first(t, "completion", 1);
        ids.unshift(tokenizer.endId ?? 0);
        logprobs?.unshift(0);
      },
      /^end-token: calls\[1\] continues after EOS: token 0/,
    ],
    [
      "an end without its token",
      (t) => {
        const { ids, logprobs } = first(t, "completion", 1);
        ids.pop();
        logprobs?.pop();
      },
      /^end-token: calls\[1\] has finish eos, but its last token, \d+, is not EOS\.$/,
    ],
    [
      "a circle",
      (t) => (at(t.calls, 0).parent = 1),
      "parent: calls[0].parent is 1; expected an earlier call, or null.",
    ],
    [
      "a parent that is not there",
      (t) => (at(t.calls, 1).parent = 7),
      /^parent: calls\[1\]\.parent is 7/,
    ],
    [
      "a conversation rendered again",
      (t) => at(t.calls, 1).prompt.unshift(structuredClone(first(t, "prompt"))),
      /^prefix: calls\[1\] continues calls\[0\] and repeats the first prompt \(\d+ ids\)\.$/,
    ],
    [
      "turns out of order",
      (t) => t.turns.reverse(),
      "turn-order: turns[1].call is 0 and follows a turn of call 1.",
    ],
    [
      "a turn of no call",
      (t) => (at(t.turns, 1).call = 2),
      "turn-order: turns[1].call is 2; there are 2 calls.",
    ],
    [
      "a message that was not written",
      (t) => (at(t.turns, 0).text = "<search> capital of Peru</search>"),
      'turn-text: turns[0].text is "<search> capital of Peru</search>"; calls[0] says, up to the cut, "<search> capital of Norway</search>".',
    ],
    [
      "a message that was not cut",
      (t) => {
        const { ids, logprobs } = first(t, "completion");
        ids.push(...tokenizer.encode(" Oslo"));
        logprobs?.push(0);
        at(t.turns, 0).text += " Oslo";
      },
      /^turn-text: turns\[0\]\.text is .* says, up to the cut/,
    ],
    [
      "an observation that was not shown",
      (t) =>
        (at(at(t.turns, 0).observations, 0).text =
          "Doc 1(Title: Lima) Lima is the capital of Peru."),
      /^shown: calls\[1\] follows turns\[0\] and shows .* but its tools returned: "Doc 1\(Title: Lima\)/,
    ],
    [
      "another answer than the message's",
      (t) => (t.answer = "Lima"),
      'answer: answer is "Lima"; the protocol\'s rule finds "Oslo" in 2 messages.',
    ],
    [
      "an answer that ran out of turns",
      (t) => (t.end = "turn-limit"),
      "end: end is turn-limit, but the last message is an answer.",
    ],
    [
      "an end without its error",
      (t) => (t.end = "tool-error"),
      "end: end is tool-error, but no error is recorded.",
    ],
    [
      "an error without its end",
      (t) => (t.error = { boundary: "tool", code: "TOOL_FAILED", message: "" }),
      "end: end is answered, but an error is recorded (TOOL_FAILED).",
    ],
    [
      "a valid message that ended as invalid",
      (t) => (t.end = "invalid"),
      /^end: end is invalid, but the last message/,
    ],
    [
      "a hint that is not there",
      (t) => (at(t.hints ?? [], 0).text = " Stop"),
      "hint: hints[0] (made): no inserted segment of call 1 has this text.",
    ],
    [
      "a hint in no call",
      (t) => (at(t.hints ?? [], 0).call = 4),
      "hint: hints[0] (made): there is no call 4.",
    ],
    [
      "an endless reward",
      (t) => (t.reward = Infinity),
      "reward: reward is Infinity; expected a number or null.",
    ],
    [
      "a reward of no call",
      (t) => (at(t.rewards, 1).at = { call: 2 }),
      "reward: rewards[1] (format) belongs to call 2; there are 2 calls.",
    ],
    [
      "a reward of no token",
      (t) => (at(t.rewards, 1).at = { call: 1, token: 99 }),
      /^reward: rewards\[1\] \(format\) belongs to token 99 of call 1, which wrote \d+ tokens\.$/,
    ],
    [
      "a key too few",
      (t) => delete (t as Partial<Trajectory>).turns,
      "shape: turns is missing: expected a list.",
    ],
  ];

describe("lint over a trajectory", () => {
  it("finds nothing in one that was rolled out", async () => {
    expect(found(await clean())).toEqual([]);
  });

  it.each(cases)("names %s", async (_, breakIt, said) => {
    const trajectory = await clean();
    breakIt(trajectory);
    // As from a file: what is no number is null there, but for numbers too large for one.
    const value =
      trajectory.reward === Infinity
        ? trajectory
        : (JSON.parse(JSON.stringify(trajectory)) as unknown);
    const messages = found(value);
    expect(messages).toContainEqual(typeof said === "string" ? said : expect.stringMatching(said));
  });

  it("has a broken trajectory for every rule", () => {
    const named = cases.map(
      ([, , said]) => /^\^?([a-z-]+):/.exec(typeof said === "string" ? said : said.source)?.[1],
    );
    expect([...new Set(named)].sort()).toEqual([...lintRules.names, "shape"].sort());
  });

  it("takes an observation that was cut on the right, also within a character", async () => {
    const trajectory = await clean();
    first(trajectory, "prompt", 1).ids.splice(12);
    expect(found(trajectory)).toEqual([]);
  });

  it("lets the likeliest token at temperature 0 have the probability that the model gave it", async () => {
    const trajectory = await clean();
    first(trajectory, "completion").logprobs?.splice(0, 1, -0.7);
    expect(found(trajectory)).toEqual([]);
  });

  it("says what it cannot tell without tokenizer and protocol, and checks the rest", async () => {
    const trajectory = { ...(await clean()), answer: "Lima", groupId: "" };
    const blind: LintReading = {
      textOf: () => null,
      endIds: null,
      vocabSize: null,
      contextOf: () => ({ grammar: null, temperature: null }),
    };
    const lint = openLint(blind, { keep: 5 });
    lint.line(trajectory, 1);
    expect(lint.report().counts).toEqual({ names: 1 });
    expect(lint.report().unknown).toEqual({
      "logprob-greedy": 1,
      "end-token": 1,
      "turn-text": 1,
      shown: 1,
      answer: 1,
    });
  });

  it("keeps so many violations of a rule as are asked for, and counts all", async () => {
    const lint = openLint(reading, { keep: 2 });
    for (let line = 1; line <= 5; line++)
      lint.line({ ...(await clean()), id: `t${line}`, groupId: "" }, line);
    expect(lint.report().violations.map(({ id }) => id)).toEqual(["t1", "t2"]);
    expect(lint.report()).toMatchObject({ checked: 5, counts: { names: 5 } });
  });
});

const provenance = { seed: 1, strategy: "agent", draw: { name: "plain", number: 0 } };

async function candidate(changes: Partial<Candidate> = {}): Promise<Candidate> {
  const given = { id: "one", trajectory: await clean(), weight: 1, scores: { pass: 1 } };
  return { ...given, provenance: provenance as unknown as Candidate["provenance"], ...changes };
}

describe("lint over lines of a synthesis", () => {
  it("looks into samples, draws and pairs", async () => {
    const sample: Sample = { ...(await candidate()), task };
    const other = await candidate({ id: "two", trajectory: { ...(await clean()), id: "two" } });
    const pair: PreferencePair = {
      id: "p",
      task,
      chosen: sample,
      rejected: other,
      margin: 1,
      fromTurn: 1,
    };
    for (const [line, checked] of [
      [sample, 1],
      [{ settings: "s", task, candidates: [sample, other] }, 2],
      [pair, 2],
    ] as const) {
      const lint = openLint(reading, { keep: 5 });
      expect(lint.line(line, 1).map(({ id }) => id)).toHaveLength(checked);
      expect(lint.report()).toMatchObject({ checked, violations: [] });
    }
  });

  it("names what is wrong around a trajectory", async () => {
    const sample = { ...(await candidate({ weight: -1, scores: { pass: Infinity } })), task };
    expect(found({ ...sample, id: "else", task: { ...task, id: "other" } })).toEqual([
      "sample: weight is -1; expected a number of at least 0.",
      "sample: scores.pass is Infinity; expected a number.",
      'sample: its trajectory has the id "one".',
      'sample: its trajectory answers "capital", the question is "other".',
    ]);
    const [chosen, rejected] = [await candidate(), await candidate({ id: "one" })];
    at(rejected.trajectory.turns, 0).text = "x";
    const pair = { id: "p", task, chosen, rejected, margin: 1, fromTurn: 1 };
    expect(found(pair)[0]).toBe(
      "pair: is compared from turn 1, but turn 0 differs between both sides.",
    );
    expect(found({ answer: 3 })[0]).toMatch(/^shape: is no trajectory/);
  });

  it("names ids that stand twice, with the first line", async () => {
    const lint = openLint(reading, { keep: 5 });
    for (const line of [3, 8]) lint.line(await clean(), line);
    expect(lint.report().violations).toEqual([
      { id: "one", line: 8, code: "id-twice", message: "is also the id of line 3." },
    ]);
    expect(Object.keys(LINE_CODES)).toContain("id-twice");
  });
});
