import { describe, expect, it } from "vitest";
import { requireSearching } from "../../../src/env/environments/environment.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { corpus, searchEnvironment, task } from "../../helpers/search-world.ts";

const signal = new AbortController().signal;
const playing = { final: false, signal };
const start = (options: Record<string, unknown> = {}) =>
  searchEnvironment(options).start(task, { trajectoryId: "one", seed: 1 });

describe("search-qa", () => {
  it("runs the search of a message and shows what it found", async () => {
    const step = await start().step("<search>capital Norway</search>", playing);
    expect(step).toEqual({
      actions: [{ tool: "search", input: "capital Norway" }],
      problems: [],
      observations: [
        {
          tool: "search",
          text: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\n",
          passageIds: ["oslo"],
        },
      ],
      reply:
        "\n\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</information>\n\n",
      end: null,
    });
  });

  it("ends at an answer", async () => {
    const step = await start().step("<answer>Oslo</answer>", playing);
    expect(step).toMatchObject({ observations: [], reply: null, end: "answered" });
  });

  it("corrects a message without an action and goes on, or ends where the recipe says so", async () => {
    const problems = [{ code: "no-action", message: "neither search nor answer" }];
    const retried = await start().step("hm", playing);
    expect(retried).toMatchObject({ problems, observations: [], end: null });
    expect(retried.reply).toMatch(/no valid action/);
    const ended = await start({ onInvalid: "end" }).step("hm", playing);
    expect(ended).toMatchObject({ problems, reply: null, end: "invalid" });
  });

  it("refuses a tool that no message of the grammar can call", () => {
    const both = ["corpus-search", "calculator"];
    expect(() => searchEnvironment({ tools: both })).toThrow(
      errorWith(
        "TOOL_UNCALLABLE",
        /protocol "search-r1" can call "calculator"; it can call search/,
      ),
    );
    expect(() => searchEnvironment({ tools: both, protocol: "tags" })).not.toThrow();
    expect(() => searchEnvironment({ tools: both, protocol: "hermes" })).not.toThrow();
  });

  it("takes answers alone where it has no tools", async () => {
    const bare = { protocol: "tags", tools: [] };
    const answered = await start(bare).step("<answer>Oslo</answer>", playing);
    expect(answered).toMatchObject({ observations: [], end: "answered" });
    const searching = await start(bare).step("<search>Oslo</search>", playing);
    expect(searching.problems).toEqual([
      { code: "no-action", message: "expected <answer>…</answer>" },
    ]);
  });

  it("fills the question in as it stands, whatever signs it holds", () => {
    const odd = { ...task, question: "Is $& or $$5 {context}?" };
    const environment = searchEnvironment({ prompt: "{context}Q: {question}" });
    expect(environment.renderPrompt?.(odd, "<information>$1</information>\n")).toBe(
      "<information>$1</information>\nQ: Is $& or $$5 {context}?",
    );
    expect(environment.start(odd, { trajectoryId: "one", seed: 1 }).prompt).toBe(
      "Q: Is $& or $$5 {context}?",
    );
  });

  it("refuses a prompt without the question, and a context that nobody would see", () => {
    expect(() => searchEnvironment({ prompt: "Hello" })).toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: search-qa.prompt is "Hello": expected {question} somewhere in it.]`,
    );
    const environment = searchEnvironment({ prompt: "Q: {question}" });
    expect(() => environment.renderPrompt?.(task, "passages")).toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: environment.prompt is "Q: {question}": without {context} it cannot show what was found before, by a strategy or with environment.reissue. Put {context} where passages belong.]`,
    );
  });

  it("searches outside of an episode with its own tool", async () => {
    const found = await requireSearching(searchEnvironment()).search(
      "capital Norway",
      { task },
      signal,
    );
    expect(found.passageIds).toEqual(["oslo"]);
    const stopped = AbortSignal.abort(new Error("stop"));
    const searching = requireSearching(searchEnvironment({}, corpus));
    await expect(searching.search("Oslo", { task }, stopped)).rejects.toThrow("stop");
  });
});
