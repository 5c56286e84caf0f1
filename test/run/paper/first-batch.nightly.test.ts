import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { datasetsWithin } from "../../../src/data/dataset.ts";
import { readPassages } from "../../../src/data/passages.ts";
import { openNamedDataset } from "../../../src/run/assemble.ts";
import { usedDatasets } from "../../../src/run/needs.ts";
import { loadRecipe, shippedRecipes } from "../../../src/run/settings/recipe-file.ts";
import type { Settings } from "../../../src/run/settings/settings-schema.ts";
import { stageList } from "../../../src/run/settings/stages.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import {
  type RetrievalServer,
  startRetrievalServer,
} from "../../../src/server/retrieval-server.ts";
import { collect } from "../../helpers/collect.ts";
import {
  chatTemplate,
  foreignTemplate,
  paperScripts,
  roleScripts,
} from "../../helpers/paper-scripts.ts";
import { isPublished, writePublished } from "../../helpers/published-files.ts";
import { runCli } from "../../helpers/run-cli.ts";
import { writeScriptedModel } from "../../helpers/scripted-model.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

/**
 * The paper tiers, from made-up files in the published layouts to the first batch, with the published prompts, protocols, rewards,
 * budgets and algorithms. Smaller here: the policy, the corpus, the number of steps, and of questions where nothing else is said.
 */
const folder = temporaryFolder();
const before = process.env["AGENTRL_DATA"];
/** Rows of a file to train on, and to evaluate on. */
const ROWS = 16;
const QUESTIONS = 4;
/** Settings of a tier whose published budget of tokens needs more memory than two cores have. */
const SMALLER: Readonly<Record<string, readonly string[]>> = {};
/** Questions of a batch, or as many as there are minibatches. */
const PROMPTS = 4;
let server: RetrievalServer;

beforeAll(async () => {
  process.env["AGENTRL_DATA"] = join(folder, "data");
  const { path } = await writePublished({ name: "wiki18" }, 1000);
  const passages = await collect(readPassages(path));
  expect(passages).toHaveLength(1000);
  server = await startRetrievalServer(buildBm25(passages), { port: 0 }, { version: "0" });
});
afterAll(async () => {
  await server.drain();
  if (before === undefined) delete process.env["AGENTRL_DATA"];
  else process.env["AGENTRL_DATA"] = before;
});

/** Settings of any part that needs a model or a server, and of a run's length. */
async function scaled(name: string): Promise<string[]> {
  const { settings } = await resolveRecipe(name, { tier: "paper" });
  const chat = settings.policy.chat === undefined ? {} : { chatTemplate };
  const paths = paperScripts[name];
  if (paths === undefined) throw new Error(`no script for ${name}`);
  const words = await wordsOf(settings);
  const model = await scripted(`policy-${name}`, { paths, words, ...chat });
  const roles: string[] = [];
  for (const role of Object.keys(settings.models ?? {})) {
    const paths = roleScripts[name];
    if (paths === undefined) throw new Error(`no script for ${name}'s ${role}`);
    const from = await scripted(`${role}-${name}`, { paths, words: [], chatTemplate });
    roles.push(`models.${role}.from=${from}`);
  }
  const urls = [
    ["retriever.url", settings.retriever],
    ["evaluation.retriever.url", settings.evaluation.retriever],
    ...Object.entries(settings.evaluation.sets ?? {}).map(
      ([set, { retriever }]) => [`evaluation.sets.${set}.retriever.url`, retriever] as const,
    ),
  ] as const;
  const algorithm = settings.algorithm as { minibatches?: unknown } | undefined;
  const teacher = await scriptedTeacher(name, settings, model);
  return [
    `policy.from=${model}`,
    ...roles,
    ...(teacher === undefined ? [] : [`synth.teacher.from=${teacher}`]),
    ...urls.flatMap(([key, given]) =>
      given !== undefined && "url" in given ? [`${key}=${server.url}`] : [],
    ),
    ...(algorithm === undefined
      ? []
      : [
          "algorithm.steps=1",
          `algorithm.promptsPerStep=${Math.max(PROMPTS, Number(algorithm.minibatches ?? 1))}`,
        ]),
    ...["engine.device=cpu", "engine.workers=1", "engine.recompute=selective"],
    ...["checkpoints.every=1", "alarms=[]"],
  ];
}

/**
 * The model that stands for a tier's teacher, if it has one: the policy's, and where another publisher's is named, one with other
 * tokens and marks.
 */
async function scriptedTeacher(
  name: string,
  { synth, policy }: Settings,
  model: string,
): Promise<string | undefined> {
  const { teacher } = synth ?? {};
  if (teacher === undefined || !("from" in teacher)) return undefined;
  const publisher = (from: unknown): string => String(from).split("/")[0]!;
  if (publisher(teacher.from) === publisher(policy.from)) return model;
  const words = [" further", " words"];
  const given = { paths: paperScripts[name]!, words, chatTemplate: foreignTemplate };
  return scripted(`teacher-${name}`, given);
}

/** The folder of a scripted model, which is written once. */
async function scripted(
  name: string,
  given: Parameters<typeof writeScriptedModel>[1],
): Promise<string> {
  const path = join(folder, name);
  return existsSync(path) ? path : writeScriptedModel(path, given);
}

/** Words of the first questions: a policy whose tokenizer has none of them is refused. */
async function wordsOf({ dataset, environment }: Settings): Promise<string[]> {
  const tasks = await (await openNamedDataset(dataset, environment)).tasks(200);
  const text = tasks.map(({ question }) => question).join("\n");
  return [...new Set(text.match(/ ?\p{L}+/gu))];
}

/** Writes every file that a tier needs. */
async function publish(name: string, rows: number | "published"): Promise<void> {
  const used = await usedDatasets(await resolveRecipe(name, { tier: "paper" }));
  for (const { key, setting } of used) {
    const count = key.includes("evaluation") && rows !== "published" ? QUESTIONS : rows;
    for (const part of datasetsWithin(setting).filter((each) => isPublished(each.name)))
      await writePublished(part, count);
  }
}

async function train(name: string, sets: readonly string[] = []) {
  const out = join(folder, `run-${name}`);
  const flags = ["train", name, "--tier", "paper", "--out", out, "--overwrite", "--json"];
  const all = [...(await scaled(name)), ...sets].flatMap((set) => ["--set", set]);
  return runCli([...flags, ...all]);
}

const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
// A recipe that others extend may have no paper of its own.
const own = recipes.filter(({ tiers, paper }) => "paper" in tiers && paper !== undefined);
const papers = own.map(({ name }) => name);

describe("a recipe's paper tier", { timeout: 900_000 }, () => {
  it.each(papers)("%s gets through its first batch", async (name) => {
    await publish(name, ROWS);
    const { settings } = await resolveRecipe(name, { tier: "paper" });
    const { status, stdout, stderr } = await train(name, SMALLER[name]);
    expect(status, stderr).toBe(0);
    const { steps } = JSON.parse(stdout) as { steps: number };
    expect(steps).toBeGreaterThan(0);
    const { algorithm, stages } = settings;
    const trains = stages === undefined || stageList(stages).some((stage) => stage.do === "train");
    if (algorithm === undefined || !trains) return;
    expect(stderr).toMatch(/^rewards checked on \d+ scripted rollouts/m);
    expect(stderr).toMatch(/first batch: \d+ trajectories hold together/m);
  });

  it("search-r1 gets through it with as many questions as were published", async () => {
    const name = "search-r1";
    await publish(name, "published");
    const { settings } = await resolveRecipe(name, { tier: "paper" });
    const { dataset, environment, evaluation } = settings;
    let count = 0;
    for await (const _ of (await openNamedDataset(dataset, environment)).stream()) count += 1;
    expect(count).toBe(169_615);
    const sets = Object.keys(evaluation.sets ?? {}).map((set) => `sets.${set}.dataset`);
    const limits = ["dataset", ...sets].map((key) => `evaluation.${key}.limit=${QUESTIONS}`);
    const { status, stderr } = await train(name, limits);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("first batch: 50 trajectories hold together");
  });
});
