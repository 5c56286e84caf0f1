import { describe, expect, it } from "vitest";
import { rollOut } from "../../src/rollout/roll-out.ts";
import type { ScriptPlace } from "../../src/env/teacher.ts";
import { scriptedText } from "../../src/rollout/scripted-text.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { dialogueSetting } from "../../src/rollout/roll-out.ts";
import { emptyTrajectory } from "../../src/rollout/record.ts";
import { rolloutOptions, searchEnvironment } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const MESSAGES = ["<search> capital of Norway</search>", "<answer> Oslo</answer>"];
const replay = ({ turns }: ScriptPlace): string => MESSAGES[turns.length] ?? "";

/** A dialogue with a script, and where its calls are recorded. */
function opened(write: (place: ScriptPlace) => string) {
  const options = rolloutOptions({ policy: scriptedText(write) });
  const trajectory = emptyTrajectory(options);
  return {
    dialogue: scriptedText(write).open(dialogueSetting(options, trajectory)),
    calls: trajectory.calls,
    signal: options.signal,
  };
}

const PROMPT = { owner: "template", text: "Question: who?" } as const;

describe("scriptedText", () => {
  it("records prompts, replies and messages as text, without tokens or counts", async () => {
    const { calls, answer } = await rollOut(rolloutOptions({ policy: scriptedText(replay) }));
    expect(answer).toBe("Oslo");
    expect(calls).toMatchInlineSnapshot(`
      [
        {
          "completion": [
            {
              "ids": [],
              "logprobs": null,
              "owner": "policy",
              "text": "<search> capital of Norway</search>",
            },
          ],
          "finish": "stop",
          "parent": null,
          "policyVersion": null,
          "prompt": [
            {
              "ids": [],
              "logprobs": null,
              "owner": "template",
              "text": "Question: What is the capital of Norway?
      ",
            },
          ],
          "role": "policy",
        },
        {
          "completion": [
            {
              "ids": [],
              "logprobs": null,
              "owner": "policy",
              "text": "<answer> Oslo</answer>",
            },
          ],
          "finish": "eos",
          "parent": 0,
          "policyVersion": null,
          "prompt": [
            {
              "ids": [],
              "logprobs": null,
              "owner": "environment",
              "text": "

      <information>Doc 1(Title: Oslo) Oslo is the capital of Norway.
      </information>

      ",
            },
          ],
          "role": "policy",
        },
      ]
    `);
  });

  it("shows the script what was shown: replies as short as budgets make them", async () => {
    const shown: (readonly string[])[] = [];
    const policy = scriptedText((place) => {
      shown.push(place.shown);
      return replay(place);
    });
    // Four characters stand for a token.
    const budgets = [{ scope: "observation", unit: "tokens", limit: 5, onExhausted: "cut" }];
    await rollOut(rolloutOptions({ policy, environment: searchEnvironment({ budgets }) }));
    expect(shown.at(-1)).toEqual([
      "Question: What is the capital of Norway?\n",
      "\n\n<information>Doc 1",
    ]);
  });

  it("goes on from what its message is made to begin with", async () => {
    const policy = scriptedText(({ prefill }) => (prefill === "<answer>" ? " Oslo</answer>" : ""));
    const { answer, turns } = await strategies
      .get("direct", "test")
      .run(rolloutOptions({ policy }));
    expect([answer, turns[0]?.text]).toEqual(["Oslo", "<answer> Oslo</answer>"]);
  });

  it("is interrupted: what stands behind the place is taken back and written anew", async () => {
    const { dialogue, calls, signal } = opened(({ prefill }) =>
      prefill.includes("Wait.")
        ? " I look.</think><search>x</search>"
        : "I know</think><answer>y</answer>",
    );
    const message = await dialogue.write([PROMPT], signal, (text) =>
      text.includes("Wait.")
        ? null
        : { name: "test", keep: text.indexOf("</think>"), text: ". Wait." },
    );
    expect(message?.text).toBe("I know. Wait. I look.</think><search>x</search>");
    expect(calls[0]?.completion.map(({ owner, text }) => [owner, text])).toEqual([
      ["policy", "I know"],
      ["inserted", ". Wait."],
      ["policy", " I look.</think><search>x</search>"],
    ]);
  });

  it("cuts a message where its protocol ends it", async () => {
    const { dialogue, calls, signal } = opened(() => "<answer>y</answer> and more");
    expect((await dialogue.write([PROMPT], signal))?.text).toBe("<answer>y</answer>");
    expect(calls[0]?.finish).toBe("stop");
  });

  it("forks with what was shown, under the fork's seed", async () => {
    const seeds: number[] = [];
    const { dialogue, signal } = opened(({ seed, shown }) => {
      seeds.push(seed);
      return `<search>${shown.length}</search>`;
    });
    await dialogue.write([PROMPT], signal);
    const fork = dialogue.fork({ id: "fork", seed: 9 });
    const reply = { owner: "environment", text: "found" } as const;
    expect((await fork.write([reply], signal))?.text).toBe("<search>2</search>");
    expect((await dialogue.write([reply, reply], signal))?.text).toBe("<search>3</search>");
    expect(seeds).toEqual([1, 9, 1]);
  });

  it("throws the reason of an aborted signal", async () => {
    const { dialogue } = opened(() => "x");
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(dialogue.write([PROMPT], stopped)).rejects.toThrow("stopped");
  });
});
