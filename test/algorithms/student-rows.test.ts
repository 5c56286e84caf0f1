import { describe, expect, it } from "vitest";
import {
  type ReadingOptions,
  type Student,
  studentRows,
} from "../../src/algorithms/student-rows.ts";
import { areTokensOf } from "../../src/algorithms/drawn-tokens.ts";
import { compileChatTemplate } from "../../src/chat/chat-template.ts";
import { chatRendering } from "../../src/rollout/chat-rendering.ts";
import { chatSchema } from "../../src/rollout/model-settings.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { type Tokenizer, makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import {
  type Call,
  type Segment,
  type TokenRow,
  type Trajectory,
  type Turn,
  tokenRows,
} from "../../src/trajectory/trajectory.ts";
import { errorWith } from "../helpers/error-with.ts";
import {
  answered,
  replay,
  rolloutOptions,
  searchEnvironment,
  tagTokenizer,
} from "../helpers/search-world.ts";

const tokenizer = tagTokenizer("<|im_start|>", "<|im_end|>");
const files = wordTokenizer({ words: [" Norway", " Oslo"], specials: ["</s>", "<pad>"] });
/** Knows other words under other ids. */
const other = makeTokenizer(files.tokenizer, files.config, "other");
const chatml = compileChatTemplate(
  "{%- for m in messages -%}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|end|>\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}",
  { specialTokens: {}, where: "chatml.jinja" },
);
const chat = chatRendering(chatml, tokenizer, chatSchema.parse({}));
const options: ReadingOptions = { hints: "learn", drawnWith: null, where: "a.jsonl:1" };

const said = (owner: Segment["owner"], text: string): Segment => ({
  owner,
  ids: [],
  logprobs: null,
  text,
});
const call = (
  parent: number | null,
  prompt: Segment[],
  completion: Segment[],
  finish: Call["finish"] = "stop",
): Call => {
  return { parent, role: "policy", policyVersion: null, prompt, completion, finish };
};
const turn = (of: number, text: string): Turn => ({
  call: of,
  text,
  actions: [],
  problems: [],
  observations: [],
});

/** What each run of tokens of one owner says: `policy:text`. */
function readable({ ids, owners }: TokenRow, of = tokenizer): string[] {
  const runs: { owner: string; ids: number[] }[] = [];
  ids.forEach((id, i) => {
    const owner = owners[i] ?? "";
    if (runs.at(-1)?.owner === owner) runs.at(-1)?.ids.push(id);
    else runs.push({ owner, ids: [id] });
  });
  return runs.map((run) => `${run.owner}:${of.decode(run.ids)}`);
}

const read = (trajectory: Trajectory, student: Student, changes: Partial<ReadingOptions> = {}) =>
  studentRows(trajectory, student, { ...options, ...changes }).map((row) =>
    readable(row, student.tokenizer),
  );

/** A search and an answer, as a teacher without tokens records them; it ended its last message itself. */
const ofText = answered("Oslo", {
  calls: [
    call(null, [said("template", "Q")], [said("policy", "<search> Norway</search>")]),
    call(0, [said("environment", "Oslo is")], [said("policy", "<answer> Oslo</answer>")], "eos"),
  ],
  turns: [turn(0, "<search> Norway</search>"), turn(1, "<answer> Oslo</answer>")],
});

const played = (
  using = tokenizer,
  messages = ["<search> Norway</search>", "<answer> Oslo</answer>"],
) => rollOut(rolloutOptions({ policy: replay(messages, using), environment: searchEnvironment() }));

describe("a trajectory of text", () => {
  it("is said in the student's tokens, part by part, with an end token after a message that was ended", () => {
    expect(read(ofText, { tokenizer })).toEqual([
      [
        ...["template:Q", "policy:<search> Norway</search>"],
        ...["environment:Oslo is", "policy:<answer> Oslo</answer><|end|>"],
      ],
    ]);
    const [row] = studentRows(ofText, { tokenizer }, options);
    expect(row?.ids.slice(1, 4)).toEqual(tokenizer.encode("<search> Norway</search>"));
  });

  it("has no end token where the student's rollouts stop a message before one", () => {
    const [row] = read(ofText, { tokenizer, stopStrings: ["</answer>"] });
    expect(row?.at(-1)).toBe("policy:<answer> Oslo</answer>");
  });

  it("is put through the student's chat template, whose marks are nobody's to learn", () => {
    expect(read(ofText, { tokenizer, rendering: chat })).toEqual([
      [
        "template:<|im_start|>user\nQ<|end|>\n<|im_start|>assistant\n",
        "policy:<search> Norway</search>",
        "template:<|end|>\n<|im_start|>user\n",
        "environment:Oslo is",
        "template:<|end|>\n<|im_start|>assistant\n",
        "policy:<answer> Oslo</answer><|end|>",
      ],
    ]);
  });

  it("shows the results of tools bare where the template has marks of its own for them", () => {
    const bare = { ...chat, wrapsResults: true };
    const observations = [
      { tool: "search", text: "Oslo" },
      { tool: "search", text: "Bergen" },
    ];
    const found = { ...turn(0, "<search> Norway</search>"), observations };
    const [row] = read({ ...ofText, turns: [found] }, { tokenizer, rendering: bare });
    expect(row?.[3]).toBe("environment:Oslo\n\nBergen");
  });
});

describe("a trajectory of token ids", () => {
  it("keeps them where they are the student's own", async () => {
    const trajectory = await played();
    expect(areTokensOf(tokenizer, trajectory)).toBe(true);
    expect(studentRows(trajectory, { tokenizer }, options)).toEqual(tokenRows(trajectory));
  });

  it("keeps them where a strategy closed the tag of a message that its writer ended by a token", async () => {
    const trajectory = await played();
    const [turn, ...others] = trajectory.turns;
    const call = trajectory.calls[turn!.call]!;
    const opened = {
      owner: "inserted" as const,
      ids: tokenizer.encode("<answer>"),
      logprobs: null,
    };
    const said = { ...call.completion[0]!, ids: tokenizer.encode(" Oslo<|end|>") };
    const calls = trajectory.calls.with(turn!.call, { ...call, completion: [opened, said] });
    const turns = [{ ...turn!, text: "<answer> Oslo</answer>" }, ...others];
    expect(areTokensOf(tokenizer, { ...trajectory, calls, turns })).toBe(true);
    const wrong = [{ ...turn!, text: "<answer> Bergen</answer>" }, ...others];
    expect(areTokensOf(tokenizer, { ...trajectory, calls, turns: wrong })).toBe(false);
  });

  it("is put through the chat template where it was drawn without", async () => {
    const [row] = read(await played(), { tokenizer, rendering: chat });
    expect(row?.[0]).toMatch(/^template:<\|im_start\|>user\n/);
    expect(row?.[0]).toMatch(/<\|end\|>\n<\|im_start\|>assistant\n$/);
    expect(row?.[2]).toBe("template:<|end|>\n<|im_start|>user\n");
  });

  it("keeps what was drawn through the student's own template", async () => {
    const policy = { ...replay(["<answer> Oslo</answer>"], tokenizer), rendering: chat };
    const trajectory = await rollOut(rolloutOptions({ policy }));
    expect(studentRows(trajectory, { tokenizer, rendering: chat }, options)).toEqual(
      tokenRows(trajectory),
    );
  });

  it("is said again where another tokenizer drew it that is known, and else refused", async () => {
    const trajectory = await played(other);
    expect(areTokensOf(tokenizer, trajectory)).toBe(false);
    const [row] = read(trajectory, { tokenizer }, { drawnWith: { tokenizer: other } });
    expect(row?.[1]).toBe("policy:<search> Norway</search>");
    expect(() => studentRows(trajectory, { tokenizer }, options)).toThrow(
      errorWith("SAMPLE_TOKENS_FOREIGN", /^a\.jsonl:1: its token ids are not those/),
    );
  });

  describe("drawn through another chat template", () => {
    const opening = (text: string) => `<user>${text}</s><model>`;
    const theirs = {
      ...{ opening, wrapsResults: false },
      around: () => ({ before: "<user>", after: "</s><model>" }),
    };
    const drawnBy = (using: Tokenizer) =>
      rollOut(
        rolloutOptions({
          policy: {
            ...replay(["<search> Norway</search>", "<answer> Oslo</answer>"], using),
            rendering: theirs,
          },
          environment: searchEnvironment(),
        }),
      );

    it("is said again without its marks, plainly or within the student's own", async () => {
      const drawnWith = { tokenizer: other, rendering: theirs };
      const foreign = await drawnBy(other);
      const plain = await played();
      expect(read(foreign, { tokenizer }, { drawnWith })).toEqual(read(plain, { tokenizer }));
      const student = { tokenizer, rendering: chat };
      expect(read(foreign, student, { drawnWith })).toEqual(read(plain, student));
    });

    it("is refused where the tokens are the student's own and the template is not known", async () => {
      const trajectory = await drawnBy(tokenizer);
      const student = { tokenizer, rendering: chat };
      expect(() => studentRows(trajectory, student, options)).toThrow(
        errorWith("SAMPLE_TOKENS_FOREIGN", "through a chat template other than the policy's"),
      );
      const drawnWith = { tokenizer, rendering: theirs };
      expect(read(trajectory, student, { drawnWith })).toEqual(read(await played(), student));
    });

    it("is refused where its prompt is not within the template's marks", async () => {
      const trajectory = await drawnBy(other);
      for (const drawnWith of [
        { tokenizer: other },
        { tokenizer: other, rendering: { ...theirs, opening: (text: string) => `${text}!` } },
      ])
        expect(() => studentRows(trajectory, { tokenizer }, { ...options, drawnWith })).toThrow(
          errorWith("SAMPLE_TOKENS_FOREIGN", "not within the marks"),
        );
    });
  });
});

describe("hints", () => {
  const hint = " search";
  const prompt = [said("template", "Q"), said("inserted", " psst")];
  const written = [said("policy", "I"), said("inserted", hint), said("policy", " Oslo")];
  const text = "I search Oslo";
  const hinted = answered("Oslo", {
    calls: [call(null, prompt, written)],
    turns: [turn(0, text)],
    hints: [{ name: "h", call: 0, text: hint }],
  });
  const spell = (owner: Segment["owner"], value: string): Segment => {
    return { owner, ids: tokenizer.encode(value), logprobs: null };
  };
  const ofIds: Trajectory = {
    ...hinted,
    calls: hinted.calls.map((each) => ({
      ...each,
      prompt: each.prompt.map((part) => spell(part.owner, part.text ?? "")),
      completion: each.completion.map((part) => spell(part.owner, part.text ?? "")),
    })),
  };

  it.each([
    ["text", hinted],
    ["token ids", ofIds],
  ])(
    "in messages of %s are learned, read or removed; withheld ones are always removed",
    (_, each) => {
      const as = (hints: ReadingOptions["hints"]) => read(each, { tokenizer }, { hints });
      expect(as("learn")).toEqual([["template:Q", "policy:I search Oslo"]]);
      expect(as("read")).toEqual([["template:Q", "policy:I", "inserted: search", "policy: Oslo"]]);
      expect(as("remove")).toEqual([["template:Q", "policy:I Oslo"]]);
    },
  );

  it("are told from what a strategy forces on a message, which is context in any case", () => {
    const forced = answered("Oslo", {
      calls: [
        call(
          null,
          [said("template", "Q"), said("inserted", "<answer>")],
          [said("policy", " Oslo</answer>")],
        ),
      ],
      turns: [turn(0, "<answer> Oslo</answer>")],
    });
    for (const hints of ["learn", "read", "remove"] as const) {
      expect(read(forced, { tokenizer }, { hints })).toEqual([
        ["template:Q", "inserted:<answer>", "policy: Oslo</answer>"],
      ]);
    }
  });
});
