import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { measuringSettings } from "../../src/cli/eval-flags.ts";
import { synthSettings } from "../../src/cli/synth-flags.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

it("eval and synth-data take a table with the user's columns, and say how they understood it", async () => {
  const dataset = join(folder, "qa.csv");
  await writeFile(dataset, "frage,gold,draft\na?,x,y\n");
  const notes: string[] = [];
  const note = (text: string): unknown => notes.push(text);
  const flags = { dataset, answerField: "draft" };
  const setting = { name: "files", tasks: dataset, fields: { answer: "draft" } };
  const { settings } = await measuringSettings(flags, { note });
  expect(settings.evaluation.dataset).toMatchObject(setting);
  expect((await synthSettings(flags, note)).settings.dataset).toMatchObject(setting);
  const understood = `${dataset}: question ← frage, answer ← draft, id ← row number`;
  expect(notes.filter((text) => text === understood)).toHaveLength(2);
});

it("refuses fields without --dataset", async () => {
  const note = (): undefined => undefined;
  await expect(measuringSettings({ answerField: "gold" }, { note })).rejects.toThrow(
    errorWith("USAGE", "--answer-field"),
  );
  await expect(synthSettings({ questionField: "q" }, note)).rejects.toThrow(
    errorWith("USAGE", "--question-field"),
  );
});
