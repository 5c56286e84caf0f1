import { Option } from "commander";
import { parseYamlValue } from "../base/yaml.ts";
import type { Override } from "../run/settings/settings.ts";

/** --reporter NAME|YAML, repeatable: programs that receive a training's metrics. */
export function reporterOption(): Option {
  return new Option(
    "--reporter <name|yaml>",
    'also send metrics to tensorboard, mlflow, trackio or wandb (files to upload), e.g. "{ name: mlflow, url: http://127.0.0.1:5000 }"; repeatable',
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
}

/**
 * The flag's override: replaces `reporters` of the recipe.
 *
 * @param given the flag's values; undefined if not given.
 * @returns for `settingsOf`, which checks the names and options.
 * @throws {ConfigError} RECIPE_NOT_YAML
 * @example reporterOverrides(["tensorboard"]) // [{ key: "reporters", value: ["tensorboard"], origin: "--reporter" }]
 */
export function reporterOverrides(given: readonly string[] | undefined): Override[] {
  if (given === undefined) return [];
  const value = given.map((text) => parseYamlValue(text, "--reporter"));
  return [{ key: "reporters", value, origin: "--reporter" }];
}
