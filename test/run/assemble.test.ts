import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Dataset } from "../../src/data/dataset.ts";
import { environmentOver, policyFolder, retrieverOver } from "../../src/run/assemble.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { errorWith } from "../helpers/error-with.ts";
import { passagesOf } from "../helpers/listed-retriever.ts";
import { task } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const dataset = (supportingPassages?: string[]): Dataset => ({
  name: "letters",
  fingerprint: "letters",
  trainable: true,
  async *stream() {
    yield* await this.tasks();
  },
  tasks: () =>
    Promise.resolve([
      { ...task, annotations: supportingPassages === undefined ? {} : { supportingPassages } },
    ]),
  passages: () => passagesOf("a", "b"),
});

describe("policyFolder", () => {
  it("asks for a policy where a run is named, and names the newest", async () => {
    const run = temporaryFolder();
    expect(await policyFolder(run)).toBe(run);
    for (const step of ["step-2", "step-10", "step-9"])
      mkdirSync(join(run, "checkpoints", step), { recursive: true });
    await expect(policyFolder(run)).rejects.toThrow(
      errorWith("POLICY_IS_RUN", new RegExp(`such as ${run}/checkpoints/step-10\\.`)),
    );
    const checkpoint = join(run, "checkpoints", "step-9");
    expect(await policyFolder(checkpoint)).toBe(checkpoint);
    // What a finished fine-tuning leaves.
    mkdirSync(join(run, "policy"));
    await expect(policyFolder(run)).rejects.toThrow(`such as ${run}/policy.`);
  });
});

describe("retrieverOver", () => {
  it("opens the evaluation's own retriever for evaluation, and the recipe's where it has none", async () => {
    const own = settingsSchema.parse({ retriever: "random", evaluation: { retriever: "none" } });
    expect((await retrieverOver(dataset(), own, "training")).name).toBe("random");
    expect((await retrieverOver(dataset(), own, "evaluation")).name).toBe("none");
    const shared = settingsSchema.parse({ retriever: "random" });
    expect((await retrieverOver(dataset(), shared, "evaluation")).name).toBe("random");
  });

  it("finds nothing for a strategy that never searches", async () => {
    const settings = settingsSchema.parse({ retriever: "random", strategy: "direct" });
    expect((await retrieverOver(dataset(), settings, "training")).name).toBe("none");
    expect((await retrieverOver(dataset(), settings, "evaluation")).name).toBe("random");
  });

  it("opens the named retrievers beside it, for tools that name one", async () => {
    const settings = settingsSchema.parse({
      retriever: "bm25",
      retrievers: { news: "none", gold: { name: "random" } },
      environment: {
        name: "search-qa",
        protocol: "tags",
        tools: ["corpus-search", { name: "corpus-search", as: "news-search", retriever: "news" }],
      },
    });
    const opened = await retrieverOver(dataset(), settings, "training");
    expect(Object.keys(opened.named ?? {})).toEqual(["news", "gold"]);
    const alone = await retrieverOver(
      dataset(),
      { ...settings, retrievers: undefined },
      "training",
    );
    expect(opened.fingerprint).not.toBe(alone.fingerprint);
    const at = { turn: 0, final: false, signal: new AbortController().signal };
    const episode = environmentOver(opened, settings).start(task, { trajectoryId: "one", seed: 1 });
    expect((await episode.step("<search>a</search>", at)).observations).toHaveLength(1);
    await opened.close();
    // Without a strategy that searches nothing is opened, but the names are known.
    const direct = settingsSchema.parse({ ...settings, strategy: "direct" });
    const none = await retrieverOver(dataset(), direct, "training");
    expect(environmentOver(none, direct).toolSchemas).toHaveLength(2);
  });

  it("names the retrievers that there are where a tool names none of them", async () => {
    const settings = settingsSchema.parse({
      retriever: "none",
      retrievers: { news: "none" },
      environment: { name: "search-qa", tools: [{ name: "corpus-search", retriever: "mews" }] },
    });
    const opened = await retrieverOver(dataset(), settings, "training");
    expect(() => environmentOver(opened, settings)).toThrow(errorWith("PART_UNKNOWN", '"news"'));
  });

  it("refuses one that looks at gold passages where no question names any", async () => {
    const trained = settingsSchema.parse({ retriever: "oracle" });
    await expect(retrieverOver(dataset(), trained, "training")).rejects.toThrow(
      errorWith(
        "RECIPE_BAD_VALUE",
        'retriever is "oracle", which looks at gold passages; no question of letters',
      ),
    );
    await expect(retrieverOver(dataset([]), trained, "training")).rejects.toThrow("letters");
    const measured = settingsSchema.parse({
      evaluation: { retriever: { name: "noisy", of: "oracle", rate: 0.5 } },
    });
    await expect(retrieverOver(dataset(), measured, "evaluation")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'evaluation.retriever is "noisy"'),
    );
    const opened = await retrieverOver(dataset(["b"]), trained, "training");
    expect(opened.name).toBe("oracle");
  });
});

describe("environmentOver", () => {
  it("says whether what is measured there looks at gold", async () => {
    for (const [retriever, readsGold] of [
      ["random", false],
      [{ name: "noisy", of: "random", rate: { schedule: "linear", from: 0, to: 1 } }, false],
      [{ name: "noisy", of: "oracle", rate: 0.5 }, true],
      [{ name: "without-gold", of: "random" }, true],
    ] as const) {
      const settings = settingsSchema.parse({ retriever });
      const opened = await retrieverOver(dataset(["b"]), settings, "training");
      expect(environmentOver(opened, settings).readsGold).toBe(readsGold);
    }
  });
});
