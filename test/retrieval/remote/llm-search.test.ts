import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { llmSearch } from "../../../src/retrieval/remote/llm-search.ts";
import { type SearchContext, type Retriever, readsGold } from "../../../src/retrieval/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

interface Body {
  messages: { content: string }[];
  seed: number;
}

const server = await localServer((_request, response) => {
  const content = "Doc 1: first\nDoc 2: second\nDoc 3: third";
  sendJson(response, { choices: [{ message: { content }, finish_reason: "stop" }] });
});
const bodies = () => server.received.map(({ body }) => JSON.parse(body) as Body);
const prompts = () => bodies().map(({ messages }) => messages[0]!.content);
const folder = temporaryFolder();

function open(given: object = {}): Promise<Retriever> {
  const context = { open: () => Promise.reject(new Error("nothing inside")) };
  const defaults = { baseUrl: `${server.url}/v1`, model: "m", apiKeyEnv: null, retries: 0 };
  return llmSearch.open({ ...defaults, ...given }, context);
}
function asker(id: string, progress?: SearchContext["progress"]): SearchContext {
  const task = { id, question: `Question ${id}?`, references: [`Gold ${id}`, "other"] };
  return { task: { ...task, source: "test", annotations: {} }, progress };
}
/** Which of the prompts asked for noise. */
const noisy = () => prompts().map((prompt) => prompt.includes("No document may help"));

beforeEach(() => {
  server.received.length = 0;
});

describe("llm-search", () => {
  it("tells the model the query, and the question and first answer of whoever asks", async () => {
    const retriever = await open();
    const [hits] = await retriever.search(["who?"], 2, { contexts: [asker("t1")] });
    expect(hits!.map(({ text, score }) => [text, score])).toEqual([
      ["first", 1],
      ["second", 0.5],
    ]);
    expect(bodies()[0]).toMatchObject({ model: "m", temperature: 0.8, max_tokens: 600, top_p: 1 });
    expect(prompts()[0]).toMatchInlineSnapshot(`
      "You stand in for a web search engine. Given a query, write the documents that its results page would show.
      Every document must help to answer the query: it states true facts that bear on it directly.

      Whoever searches is working on this question:
      Question t1?
      The answer to it is: Gold t1
      Use this only to judge what would help. Never mention the question.

      Write exactly 2 documents of about 30 words each, one a line, numbered like this:
      Doc 1: …
      Doc 2: …
      Write nothing else.

      Query: who?"
    `);
  });

  it("asks without a question where nobody does, and not at all for an empty query", async () => {
    const [hits, none] = await (await open()).search(["who?", " "], 2);
    expect(hits).toHaveLength(2);
    expect(none).toEqual([]);
    expect(prompts()).toHaveLength(1);
    expect(prompts()[0]).not.toContain("Question");
  });

  it("gives every searcher its own question and answer, whoever else still searches", async () => {
    const contexts = ["a", "b", "c"].map((id) => asker(id));
    const retriever = await open({ concurrency: 1 });
    await retriever.search(["q", "q", "q"], 1, { contexts });
    // The others have finished: c is now first in the batch.
    await retriever.search(["q"], 1, { contexts: [contexts[2]!] });
    const answers = prompts().map((prompt) => /The answer to it is: (.*)/.exec(prompt)?.[1]);
    expect(answers).toEqual(["Gold a", "Gold b", "Gold c", "Gold c"]);
  });

  it("turns noisy at the scheduled rate, the draw depending on nothing but who asks what and when", async () => {
    const noise = { schedule: "exponential", base: 4, from: 0, to: 1 };
    const at = (step: number) => ({ step, totalSteps: 3 });
    const rateAt = async (step: number): Promise<number> => {
      server.received.length = 0;
      const retriever = await open({ noise, seed: 1, concurrency: 64 });
      const contexts = Array.from({ length: 100 }, (_, i) => asker(`t${i}`, at(step)));
      await retriever.search(
        contexts.map(() => "q"),
        1,
        { contexts },
      );
      return noisy().filter(Boolean).length / 100;
    };
    expect(await rateAt(0)).toBe(0);
    expect(await rateAt(1)).toBe(0.33); // (4^½ − 1) / 3 of 100
    expect(await rateAt(2)).toBe(1);
  });

  it("draws the same for the same seed, whatever else is asked in between, and anew for each repetition", async () => {
    const ask = async (retriever: Retriever, others: number): Promise<[boolean, number][]> => {
      for (let i = 0; i < others; i++) {
        await retriever.search(["other"], 1, { contexts: [asker(`other${i}`)] });
      }
      server.received.length = 0;
      for (let i = 0; i < 8; i++) await retriever.search(["q"], 1, { contexts: [asker("t")] });
      return noisy().map((each, i) => [each, bodies()[i]!.seed]);
    };
    const first = await ask(await open({ noise: 0.5 }), 0);
    expect(await ask(await open({ noise: 0.5 }), 3)).toEqual(first);
    expect(new Set(first.map(([, seed]) => seed)).size).toBe(8);
    expect(new Set(first.map(([each]) => each)).size).toBe(2);
    expect(await ask(await open({ noise: 0.5, seed: 1 }), 0)).not.toEqual(first);
  });

  it("fills in a template of the user's", async () => {
    const template = join(folder, "template.txt");
    await writeFile(
      template,
      "{{quality}} {{ documents }}x{{words}}: {{query}} | {{question}} | {{answer}}",
    );
    const retriever = await open({ template, noise: 1, words: 9 });
    await retriever.search(["$& {{answer}}"], 4, { contexts: [asker("t")] });
    expect(prompts()).toEqual(["noisy 4x9: $& {{answer}} | Question t? | Gold t"]);
    expect(retriever.fingerprint).not.toBe((await open({ noise: 1, words: 9 })).fingerprint);
  });

  it("refuses a template without the query, or with a word that it does not know", async () => {
    const template = join(folder, "bad.txt");
    await writeFile(template, "Write {{documents}} documents.");
    await expect(open({ template })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "the template lacks {{query}}"),
    );
    await writeFile(template, "{{query}} {{gold}}");
    await expect(open({ template })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "{{gold}}. Known: {{query}}"),
    );
  });

  it("says that it reads gold, and the progress where the noise changes", async () => {
    const fixed = await open({ noise: 0.3 });
    expect(fixed.reads).toEqual(["references"]);
    expect(readsGold(fixed)).toBe(true);
    const rising = await open({ noise: { schedule: "linear", from: 0, to: 1 } });
    expect(rising.reads).toEqual(["progress", "references"]);
  });
});
