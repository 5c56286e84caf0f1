import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addOptions } from "../../src/cli/options.ts";
import { reporterOverrides, trainingOptions } from "../../src/cli/training-command.ts";
import { errorWith } from "../helpers/error-with.ts";

function given(...words: string[]): string[] | undefined {
  const command = addOptions(new Command(), trainingOptions("run folder")).parse(words, {
    from: "user",
  });
  return command.opts<{ reporter?: string[] }>().reporter;
}

describe("--reporter", () => {
  it("may be given several times, by name or as YAML", () => {
    const flags = given(
      "--reporter",
      "tensorboard",
      "--reporter",
      "{ name: mlflow, url: http://h:5000 }",
    );
    expect(reporterOverrides(flags)).toEqual([
      {
        key: "reporters",
        value: ["tensorboard", { name: "mlflow", url: "http://h:5000" }],
        origin: "--reporter",
      },
    ]);
  });

  it("sets nothing where it is not given", () => {
    expect(reporterOverrides(given())).toEqual([]);
  });

  it("says what is not YAML", () => {
    expect(() => reporterOverrides(["{ name: "])).toThrow(
      errorWith("RECIPE_NOT_YAML", "--reporter"),
    );
  });
});
