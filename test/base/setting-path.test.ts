import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "../../src/base/schema.ts";
import { isModel, isPath, pathsFrom, withAbsolutePaths } from "../../src/base/setting-path.ts";

const schema = z.object({
  tasks: z.string().meta(isPath()),
  from: z.string().default("base").meta(isModel()),
  files: z.array(z.object({ file: z.string().optional().meta(isPath()) })),
  name: z.string(),
});
const settings = { tasks: "qa.csv", from: "org/name", files: [{ file: "/a" }, {}], name: "n" };

describe("paths in settings", () => {
  it("start from a folder where the recipe sets them", () => {
    const given = { ...settings, from: "./model", files: [{ file: "b" }] };
    expect(pathsFrom("recipes", schema, given, (key) => key !== "files.0.file")).toEqual({
      tasks: "recipes/qa.csv",
      from: "recipes/model",
      files: [{ file: "b" }],
      name: "n",
    });
  });

  it("leave names and absolute paths as they are", () => {
    expect(withAbsolutePaths(schema, settings)).toEqual({ ...settings, tasks: resolve("qa.csv") });
  });
});
