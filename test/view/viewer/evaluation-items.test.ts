import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults } from "../../../src/view/results-files.ts";
import { evaluationItems } from "../../../src/view/viewer/evaluation-items.ts";
import { writeResults } from "../../helpers/report-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("evaluations in the viewer", () => {
  it("has draws and results of one question in one group, and those of equal ids in others", async () => {
    const [here, there] = ["Where?", "Who?"].map((question) => ({ id: "0", question, em: 1 }));
    const results = await openResults([
      writeResults(join(folder, "a"), [here!, { ...here!, sample: 1 }]),
      writeResults(join(folder, "b"), [here!]),
      writeResults(join(folder, "c"), [there!]),
    ]);
    const groups: string[] = [];
    const readable = results.map((files) => ({
      files,
      name: files.name,
      decode: null,
      goldOf: () => null,
    }));
    for await (const { entry } of evaluationItems(readable)) groups.push(entry.group);
    expect(groups.map((group) => groups.indexOf(group))).toEqual([0, 0, 0, 3]);
  });
});
