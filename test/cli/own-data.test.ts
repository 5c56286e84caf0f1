import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { measuringSettings } from "../../src/cli/eval-flags.ts";
import { tierForData } from "../../src/cli/own-data.ts";
import { synthSettings } from "../../src/cli/synth-flags.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const questions = join(temporaryFolder(), "qa.jsonl");
writeFileSync(questions, '{"id":"1","question":"Who?","answer":"Ada"}\n');
const server = { policy: "http://127.0.0.1:1/v1", model: "m" };
/** Limits of a message, an observation and the context. */
const limitsOf = async (flags: object): Promise<{ limits: unknown[]; notes: number }> => {
  let notes = 0;
  const { settings } = await measuringSettings(flags, { note: () => (notes += 1) });
  return { limits: settings.budgets.slice(1).map(({ limit }) => limit), notes };
};
const TINY = [48, 120, 500];
const PAPER = [500, 500, 4096];

describe("budgets of data", () => {
  it("fit real text where the questions are the user's own, and a note says so", async () => {
    expect(await limitsOf({ ...server, dataset: questions })).toEqual({ limits: PAPER, notes: 1 });
    const { settings } = await synthSettings(
      { teacher: server.policy, model: "m", dataset: questions },
      () => undefined,
    );
    expect(settings.budgets.slice(1).map(({ limit }) => limit)).toEqual(PAPER);
  });

  it("let a synthesis search as often as the questions need", async () => {
    const musique = join(temporaryFolder(), "musique.jsonl");
    const steps = ["who", "where", "when", "#3 >> why"].map((question) => ({
      question,
      answer: "a",
    }));
    const row = { id: "4hop1__1", question: "Why?", answer: "a", paragraphs: [] };
    writeFileSync(musique, `${JSON.stringify({ ...row, question_decomposition: steps })}\n`);
    const notes: string[] = [];
    const turnsOf = async (...set: string[]): Promise<unknown> => {
      const { settings } = await synthSettings({ dataset: musique, set }, (text) =>
        notes.push(text),
      );
      return settings.budgets[0]?.limit;
    };
    expect(await turnsOf()).toBe(6);
    expect(notes.join(" ")).toMatch(/6 turns instead of 4/);
    expect(await turnsOf("budgets.0.limit=3")).toBe(3);
  });

  it("are the recipe's for its own world, and where the user names recipe or tier", async () => {
    const kept = { limits: TINY, notes: 0 };
    expect(await limitsOf(server)).toEqual(kept);
    expect(await limitsOf({ ...server, dataset: "tinyworld" })).toEqual(kept);
    expect(await limitsOf({ ...server, dataset: questions, tier: "mini" })).toEqual(kept);
    expect(await limitsOf({ ...server, dataset: questions, recipe: "search-r1" })).toEqual(kept);
  });

  it("stay small for a model whose positions hold no more, and a note says so", async () => {
    expect(await limitsOf({ dataset: questions })).toEqual({ limits: TINY, notes: 1 });
    expect(await tierForData({ data: questions, model: "base" })).toMatchObject({
      recipe: "search-r1",
      note: expect.stringMatching(/1024 positions/) as string,
    });
  });
});
