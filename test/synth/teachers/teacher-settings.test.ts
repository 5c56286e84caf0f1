import { describe, expect, it } from "vitest";
import { checkOptions } from "../../../src/base/schema.ts";
import { teacherSchema } from "../../../src/synth/teachers/index.ts";

describe("teacherSchema", () => {
  it("takes a gold-chain teacher with nothing said as an oracle that tells what it does", () => {
    expect(teacherSchema.parse({ name: "gold-chain" })).toEqual({
      name: "gold-chain",
      behaviour: {
        search: 1,
        continue: 1,
        fullQuery: 1,
        reword: 0,
        retry: 1,
        recall: 1,
        repeat: 0,
        overSearch: 0,
        malformed: { unclosed: 0, order: 0, textOutside: 0, none: 0 },
      },
      style: "telling",
    });
  });

  it("takes a model, and a server with the options of an endpoint", () => {
    expect(teacherSchema.parse({ name: "model", from: "org/name" })).toEqual({
      name: "model",
      from: "org/name",
    });
    const server = { name: "endpoint", baseUrl: "http://127.0.0.1:1/v1", model: "m" };
    expect(teacherSchema.parse(server)).toMatchObject({ ...server, api: "chat" });
  });

  it("refuses another teacher's keys", () => {
    const { problem } = checkOptions(teacherSchema, { name: "gold-chain", from: "org/name" });
    expect(problem).toMatchObject({ code: "RECIPE_UNKNOWN_KEY" });
  });
});
