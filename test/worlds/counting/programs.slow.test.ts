import { expect, it } from "vitest";
import { programOf, readCounting } from "../../../src/worlds/counting/problems.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { callTool } from "../../helpers/search-world.ts";

it("has programs that print the reference, in a real Python", async () => {
  const dataset = await openDataset({ name: "counting", questions: 60 }, "test");
  for (const { question, references } of await dataset.tasks()) {
    const { text } = await callTool({ name: "python" }, programOf(readCounting(question)!));
    expect({ question, text }).toEqual({ question, text: references[0] });
  }
});
