import { join } from "node:path";
import { expect, it } from "vitest";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { runStages } from "../../src/run/driver.ts";
import { checkSettings, resolveSettings } from "../../src/run/settings/settings.ts";
import { type Settings, settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const yaml = `
summary: s
base:
  environment: { name: search-qa }
  synth: {}
  stages:
    - { do: synth, name: probe }
    - do: train
      set:
        dataset: { name: weak-tinyworld, seed: 8, rows: ["{probe}/draws.jsonl", "{other}/rows.jsonl"] }
        environment.prompt: "Look it up. {question} {context}"
tiers:
  mini: {}
`;

it("a stage's settings name the folders of stages before it, and keep other braces", async () => {
  const recipe = parseRecipe(yaml, "r.yaml");
  const resolved = checkSettings(settingsSchema, resolveSettings(recipe, { tier: "mini" }));
  const out = temporaryFolder();
  const seen: Settings[] = [];
  const session = { out, version: "test", signal: new AbortController().signal };
  await runStages(resolved, session, {
    run: (planned) => {
      seen.push(planned.resolved.settings);
      return Promise.resolve({ policy: null, facts: {} });
    },
  });
  expect(seen[1]?.dataset).toMatchObject({
    rows: [join(out, "stages", "1-probe", "draws.jsonl"), "{other}/rows.jsonl"],
  });
  expect(seen[1]?.environment).toMatchObject({ prompt: "Look it up. {question} {context}" });
});
