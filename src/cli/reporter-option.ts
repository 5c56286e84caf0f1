import { Option } from "commander";
import { parseYamlValue } from "../base/yaml.ts";
import type { Override } from "../recipe/settings/settings.ts";

/** --reporter NAME|YAML, any number of times: programs that are told of a training. */
export function reporterOption(): Option {
  return new Option(
    "--reporter <name|yaml>",
    'also send metrics to tensorboard, mlflow or trackio, e.g. "{ name: mlflow, url: http://127.0.0.1:5000 }"; repeatable',
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
}

/**
 * What the flag sets: `reporters` of the recipe, in place of those that it names.
 *
 * @param given the flag's values; undefined where it was not given.
 * @returns for `settingsOf`, which checks the names and options.
 * @throws {ConfigError} RECIPE_NOT_YAML
 * @example reporterOverrides(["tensorboard"]) // [{ key: "reporters", value: ["tensorboard"], origin: "--reporter" }]
 */
export function reporterOverrides(given: readonly string[] | undefined): Override[] {
  if (given === undefined) return [];
  const value = given.map((text) => parseYamlValue(text, "--reporter"));
  return [{ key: "reporters", value, origin: "--reporter" }];
}
