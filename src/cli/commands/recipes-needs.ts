import { plural } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import type { Need } from "../../run/needs.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag, pluginFlag, setFlag, tierFlag } from "../options.ts";
import { settingsOf } from "../recipe-options.ts";

/** `agentrl recipes needs`: what a recipe uses beside the package. */
export const recipesNeeds = defineCommand({
  name: "needs",
  summary: "what a recipe uses that is not in the package",
  description:
    "List the data, models, files and servers that a recipe uses, those of every evaluation set included, whether each is here, and the commands that fetch what is not. Nothing is downloaded.",
  args: [["<recipe>", "name of a shipped recipe, or a path"]],
  options: { tier: tierFlag(), set: setFlag(), plugin: pluginFlag(), json: jsonFlag() },
  async run({ json, ...flags }, context, recipe) {
    const { needsOf } = await import("../../run/needs.ts");
    const resolved = await settingsOf({ ...flags, recipe });
    const needs = await needsOf(resolved);
    const { name } = resolved.recipe;
    if (json === true) context.out(JSON.stringify({ recipe: name, tier: resolved.tier, needs }));
    else context.out(`${name}, tier ${resolved.tier}\n\n${asText(needs)}`);
  },
});

const STATES = new Map([
  [true, "here"],
  [false, "absent"],
  [null, "made at first use"],
]);

function asText(needs: readonly Need[]): string {
  const rows = needs.map(({ kind, name, facts, here, keys }) => {
    return [kind, name, STATES.get(here) ?? "", facts, keys.join(", ")];
  });
  const absent = needs.filter(({ here }) => here === false);
  const commands = absent.flatMap(({ command }) => command ?? []);
  const table = renderText({ columns: ["", "", "", "", "settings"], rows });
  if (absent.length === 0) return `${table}\n\nEverything is here.`;
  const left = absent.filter(({ command }) => command === null).map(({ name }) => name);
  return [
    table,
    ...(commands.length === 0
      ? []
      : [
          `${plural(commands.length, "command")} to fetch what is absent:\n${commands.map((each) => `  ${each}`).join("\n")}`,
        ]),
    ...(left.length === 0 ? [] : [`Not fetched by a command: ${left.join(", ")}.`]),
  ].join("\n\n");
}
