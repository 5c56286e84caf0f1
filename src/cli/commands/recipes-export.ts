import { type Command, Option } from "commander";
import { plural } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import type { RecipeExport } from "../../exports/export-recipe.ts";
import { TRAINERS } from "../../exports/trainers.ts";
import type { CliContext } from "../command.ts";
import { jsonOption, pluginOption, seedOption, setOption } from "../options.ts";
import { settingsOf, type RecipeFlags } from "../recipe-options.ts";
import { claimWriting } from "../claim-output.ts";

type ExportFlags = Omit<RecipeFlags, "recipe" | "out" | "device"> & { to: string; out: string };

/** `agentrl recipes export`: a recipe's experiment for verl, SkyRL or TRL. */
export function registerExport(recipes: Command, context: CliContext): void {
  recipes
    .command("export")
    .summary("Write a recipe's experiment for verl, SkyRL or TRL.")
    .description(
      "Write a recipe's experiment for another trainer: its configuration, data, rewards, and code that plays the episodes. Searches go to `agentrl serve`. A setting that the trainer cannot have is refused. docs/exports.md",
    )
    .argument("<recipe>", "name of a shipped recipe, or a path")
    .addOption(
      new Option(
        "--to <trainer>",
        `trainer; made for ${Object.entries(TRAINERS)
          .map((each) => each.join(" "))
          .join(", ")}`,
      )
        .choices(Object.keys(TRAINERS))
        .makeOptionMandatory(),
    )
    .requiredOption("--out <folder>", "folder to write; new or empty")
    .option(
      "--tier <tier>",
      "size of the run: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
    )
    .addOption(seedOption())
    .addOption(setOption())
    .addOption(pluginOption())
    .addOption(
      jsonOption("the content of origins.json: files, configuration, and where each key went"),
    )
    .action(async (recipe: string, flags: ExportFlags) => {
      const { exportRecipe } = await import("../../exports/export-recipe.ts");
      claimWriting(flags.out);
      const resolved = await settingsOf({ ...flags, recipe });
      const { to, out, json } = flags;
      const written = await exportRecipe(resolved, to, { out, signal: context.signal });
      for (const { from, differs } of written.keys)
        if (differs !== undefined) context.note(`${from}: ${differs}`);
      context.out(json === true ? JSON.stringify(written) : asText(written));
    });
}

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
