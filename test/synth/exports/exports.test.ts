import { describe, expect, it } from "vitest";
import { protocols } from "../../../src/env/protocols/index.ts";
import { conversationsOf, type Telling } from "../../../src/synth/exports/conversation.ts";
import { exportFormats } from "../../../src/synth/exports/index.ts";
import { teacherText } from "../../../src/synth/exports/teacher-text.ts";
import type { PreferencePair, Sample } from "../../../src/trajectory/sample.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { madeCandidate, madePair, madeTrajectory } from "../../helpers/made-pairs.ts";

const SEARCH = "<think> who?</think><search> a river</search>";
const ANSWER = "<think> so</think><answer> Po</answer>";
const REPLY = "\n\n<information>Doc 1(Title: Po) long.\n</information>\n\n";

function made(id = "q/plain-0"): Sample {
  const trajectory = madeTrajectory(id, [{ text: SEARCH, reply: REPLY }, { text: ANSWER }]);
  trajectory.turns[0]!.observations = [{ tool: "search", text: "Doc 1(Title: Po) long.\n" }];
  const task = { id: "q", question: "?", references: ["Po"], source: "hotpotqa", annotations: {} };
  return { ...madeCandidate(trajectory), task };
}

const tools: Telling["tools"] = [
  {
    type: "function",
    function: {
      name: "search",
      description: "Looks up.",
      parameters: { type: "object", properties: { query: { type: "string" } } },
    },
  },
];

const protocol = protocols.get("search-r1", "test").create({});

function rowsOf(name: string, record: Sample | PreferencePair, given: Partial<Telling> = {}) {
  const format = exportFormats.get(name, "test");
  const telling: Telling = {
    ...teacherText(null, "test"),
    hints: "remove",
    calls: format.calls,
    protocol,
    tools,
    ...given,
  };
  const told = (trajectory: Trajectory) => conversationsOf(trajectory, telling);
  if (format.takes === "samples")
    return format.rows(record as Sample, told((record as Sample).trajectory), telling, 0);
  const pair = record as PreferencePair;
  const sides = { chosen: told(pair.chosen.trajectory), rejected: told(pair.rejected.trajectory) };
  return format.rows(pair, sides, telling);
}

interface Told {
  role: string;
  content: string | null;
}
const assistantTexts = (messages: readonly Told[]) =>
  messages.filter(({ role }) => role === "assistant").map(({ content }) => content);

describe("openai-chat", () => {
  it("gives calls and results their own places, and the answer as it was written", () => {
    const call = { id: "call_0_0", type: "function" };
    expect(rowsOf("openai-chat", made())).toEqual([
      {
        messages: [
          { role: "user", content: "the river " },
          {
            role: "assistant",
            content: "<think> who?</think>",
            tool_calls: [
              { ...call, function: { name: "search", arguments: '{"query":"a river"}' } },
            ],
          },
          { role: "tool", tool_call_id: "call_0_0", content: "Doc 1(Title: Po) long.\n" },
          { role: "assistant", content: ANSWER },
        ],
        tools,
      },
    ]);
  });

  it("shows as much of a result as the policy was shown", () => {
    const sample = made();
    sample.trajectory.calls[1]!.prompt[0]!.text = "\n\n<information>Doc 1(Title: Po) lo";
    const [row] = rowsOf("openai-chat", sample) as { messages: Told[] }[];
    expect(row!.messages[2]!.content).toBe("Doc 1(Title: Po) lo");
  });
});

describe("the layouts whose messages are text", () => {
  it.each(["trl-messages", "verl"])("%s keeps what the policy wrote, letter for letter", (name) => {
    const [row] = rowsOf(name, made()) as { messages: Told[] }[];
    expect(assistantTexts(row!.messages)).toEqual([SEARCH, ANSWER]);
    expect(row!.messages[2]).toEqual({ role: "user", content: REPLY });
  });

  it("trl-prompt-completion has a row for each message, with all before it as prompt", () => {
    const rows = rowsOf("trl-prompt-completion", made()) as Record<
      "prompt" | "completion",
      Told[]
    >[];
    expect(rows.map(({ completion }) => completion[0]!.content)).toEqual([SEARCH, ANSWER]);
    expect(rows.map(({ prompt }) => prompt.length)).toEqual([1, 3]);
  });

  it("verl has its own columns, and says which messages are the policy's", () => {
    const [row] = rowsOf("verl", made()) as object[];
    expect(row).toMatchObject({
      data_source: "searchR1_hotpotqa",
      prompt: [{ role: "user", content: "the river " }],
      reward_model: { style: "rule", ground_truth: { target: ["Po"] } },
      extra_info: { index: 0, trained_messages: [1, 3], weight: 1 },
    });
    const { provenance } = (row as { extra_info: { provenance: string } }).extra_info;
    expect(JSON.parse(provenance)).toEqual(made().provenance);
  });
});

describe("trl-preference", () => {
  it("parts the prompt from the compared messages", () => {
    const pair = madePair("p", made("a").trajectory, madeTrajectory("b", [{ text: ANSWER }]));
    expect(rowsOf("trl-preference", pair)).toMatchObject([
      {
        prompt: [{ role: "user", content: "the river " }],
        chosen: [{ content: SEARCH }, { content: REPLY }, { content: ANSWER }],
        rejected: [{ role: "assistant", content: ANSWER }],
      },
    ]);
  });

  it("takes one turn where one is compared, behind the turns that are the same", () => {
    const other = made("b").trajectory;
    other.calls[1]!.completion[0]!.text = "<answer> Inn</answer>";
    const pair = madePair("p", made("a").trajectory, other, { fromTurn: 1, turns: 1 });
    const [row] = rowsOf("trl-preference", pair) as Record<string, Told[]>[];
    expect(row!["prompt"]!.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(row!["chosen"]).toMatchObject([{ content: ANSWER }]);
    expect(row!["rejected"]).toMatchObject([{ content: "<answer> Inn</answer>" }]);
  });

  it("leaves pairs out whose sides read different prompts, and says why", () => {
    const other = madeTrajectory("b", [{ text: ANSWER }], { prompt: "another" });
    const pair = madePair("p", made("a").trajectory, other);
    expect(rowsOf("trl-preference", pair)).toBe("sides with different prompts");
  });
});

describe("hints", () => {
  const hinted = (): Sample => {
    const sample = made();
    const call = sample.trajectory.calls[1]!;
    call.completion = [
      { owner: "policy", ids: [], logprobs: null, text: "<think> so" },
      { owner: "inserted", ids: [], logprobs: null, text: "! Wait." },
      { owner: "policy", ids: [], logprobs: null, text: "</think><answer> Po</answer>" },
    ];
    // Part of the message was said again with the hint.
    sample.trajectory.hints = [{ name: "wait", call: 1, text: " Wait." }];
    call.prompt.push({ owner: "inserted", ids: [], logprobs: null, text: "It is Po." });
    return sample;
  };

  it("are taken out of messages, but for what the policy had said; those in prompts are withheld", () => {
    const [row] = rowsOf("trl-messages", hinted()) as { messages: Told[] }[];
    expect(row!.messages[3]!.content).toBe("<think> so!</think><answer> Po</answer>");
    expect(JSON.stringify(row)).not.toContain("It is Po");
  });

  it("stay where they are kept", () => {
    const [row] = rowsOf("trl-messages", hinted(), { hints: "keep" }) as { messages: Told[] }[];
    expect(row!.messages[3]!.content).toBe("<think> so! Wait.</think><answer> Po</answer>");
  });
});

describe("the tags of a hint", () => {
  const opened = (thought: string): Sample => {
    const sample = made();
    const call = sample.trajectory.calls[0]!;
    const hint = "<think> I must look it up";
    call.prompt.push({ owner: "inserted", ids: [], logprobs: null, text: hint });
    call.completion[0]!.text = `${thought}</think><search> a river</search>`;
    sample.trajectory.turns[0]!.text = hint + call.completion[0]!.text;
    sample.trajectory.hints = [{ name: "opening", call: 0, text: hint }];
    return sample;
  };

  it("stay where the policy wrote their partner", () => {
    for (const name of ["trl-messages", "verl"]) {
      const [row] = rowsOf(name, opened(" first.")) as { messages: Told[] }[];
      expect(assistantTexts(row!.messages)[0]).toBe(
        "<think> first.</think><search> a river</search>",
      );
    }
  });

  it("stay as an empty thought where the policy thought nothing of its own", () => {
    const [row] = rowsOf("openai-chat", opened("")) as { messages: Told[] }[];
    expect(row!.messages[1]!.content).toBe("<think></think>");
  });

  it("go where the hint closes them itself", () => {
    const sample = opened("");
    const [hint] = sample.trajectory.hints!;
    hint!.text = "<think> I must look it up</think>";
    sample.trajectory.calls[0]!.prompt[1]!.text = hint!.text;
    sample.trajectory.calls[0]!.completion[0]!.text = "<search> a river</search>";
    sample.trajectory.turns[0]!.text = `${hint!.text}<search> a river</search>`;
    const [row] = rowsOf("trl-messages", sample) as { messages: Told[] }[];
    expect(assistantTexts(row!.messages)[0]).toBe("<search> a river</search>");
  });
});

it("ends a message where the protocol cut it, not where its last token ends", () => {
  const sample = made();
  sample.trajectory.calls[0]!.completion[0]!.text = `${SEARCH}\n\n`;
  const [row] = rowsOf("trl-messages", sample) as { messages: Told[] }[];
  expect(assistantTexts(row!.messages)).toEqual([SEARCH, ANSWER]);
});

describe("sharegpt", () => {
  it("has a speaker for each message, and calls as JSON behind their thought", () => {
    expect(rowsOf("sharegpt", made(), { calls: "native" })).toMatchObject([
      {
        conversations: [
          { from: "human", value: "the river " },
          {
            from: "function_call",
            value: '<think> who?</think>{"name":"search","arguments":{"query":"a river"}}',
          },
          { from: "observation", value: "Doc 1(Title: Po) long.\n" },
          { from: "gpt", value: ANSWER },
        ],
        system: "",
        tools: JSON.stringify([tools[0]!.function]),
      },
    ]);
    expect(rowsOf("sharegpt", made())).toMatchObject([
      { conversations: [{}, { from: "gpt", value: SEARCH }, { from: "human" }, {}], tools: "" },
    ]);
  });
});

describe("what cannot be told as one conversation", () => {
  it("becomes a row for each prompt that no other continues", () => {
    const sample = made();
    sample.trajectory.calls[1]!.parent = null;
    expect(rowsOf("trl-messages", sample)).toHaveLength(2);
  });

  it("leaves drafts and other lines out", () => {
    const sample = made();
    sample.trajectory.turns[1]!.chain = "draft-1";
    const [row] = rowsOf("trl-messages", sample) as { messages: Told[] }[];
    expect(assistantTexts(row!.messages)).toEqual([SEARCH]);
  });
});
