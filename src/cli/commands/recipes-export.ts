import { plural } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import type { RecipeExport } from "../../exports/export-recipe.ts";
import { TRAINERS } from "../../exports/trainers.ts";
import { claimWriting } from "../claim-output.ts";
import { defineCommand } from "../command.ts";
import { notePaper } from "../paper-notes.ts";
import { jsonFlag, pluginFlag, seedFlag, setFlag, tierFlag, wholeNumber } from "../options.ts";
import { settingsOf } from "../recipe-options.ts";

/** `agentrl recipes export`: a recipe's experiment for verl, SkyRL or TRL. */
export const recipesExport = defineCommand({
  name: "export",
  summary: "Write a recipe's experiment for verl, SkyRL or TRL.",
  description:
    "Write a recipe's experiment for another trainer: its configuration, data and code. For verl and SkyRL the episodes and rewards are agentrl's own, played by `agentrl serve env`; for TRL exported Python plays them and searches at `agentrl serve`. A setting that the trainer cannot have is refused. docs/servers.md",
  args: [["<recipe>", "name of a shipped recipe, or a path"]],
  options: {
    to: [
      "<trainer>",
      `trainer; made for ${Object.entries(TRAINERS)
        .map((each) => each.join(" "))
        .join(", ")}`,
      Object.keys(TRAINERS),
    ],
    out: ["<folder>", "folder to write; new or empty"],
    gpus: ["<n>", "graphics cards of the machine that trains (default: 1)", wholeNumber(1)],
    stage: ["<name>", "training of a recipe with several (default: the last)"],
    tier: tierFlag(),
    seed: seedFlag(),
    set: setFlag(),
    plugin: pluginFlag(),
    json: jsonFlag("the content of origins.json: files, configuration, and where each key went"),
  },
  required: ["to", "out"],
  async run(flags, context, recipe) {
    const { exportRecipe } = await import("../../exports/export-recipe.ts");
    const { forecastText } = await import("../../exports/card-forecast.ts");
    claimWriting(flags.out);
    const resolved = await settingsOf({ ...flags, recipe });
    const { to, out, json } = flags;
    await notePaper(resolved, context);
    const written = await exportRecipe(resolved, to, {
      out,
      gpus: flags.gpus,
      stage: flags.stage,
      signal: context.signal,
    });
    for (const { from, differs } of written.keys)
      if (differs !== undefined) context.note(`${from}: ${differs}`);
    if (written.forecast !== null) context.note(forecastText(written.forecast));
    context.out(json === true ? JSON.stringify(written) : asText(written));
  },
});

function asText({ folder, config, keys, rows, recipe, tier, ...written }: RecipeExport): string {
  const { train, validation } = rows;
  const shown = config.map(({ key, value, from }) => [key, JSON.stringify(value), from]);
  const left = keys.filter(({ unused }) => unused !== undefined).length;
  return [
    `${recipe}, tier ${tier}, for ${written.trainer} ${written.trainerVersion}: ${plural(train, "question")} to train on, ${validation} to evaluate`,
    renderText({ rows: shown }),
    `${folder}/README.md shows how to start it. ${plural(left, "key")} of the recipe concern agentrl alone; origins.json lists all.`,
  ].join("\n\n");
}
