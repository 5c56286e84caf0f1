import { ConfigError } from "../../base/errors.ts";
import type { RewardCheck } from "../../evaluate/reward-check/check-rewards.ts";
import { rewards } from "../../rewards/index.ts";
import { rewardCheckBlocks } from "../../view/documents/checks.ts";
import { defineCommand } from "../command.ts";
import { noteAnswers } from "../data-flags.ts";
import { jsonFlag, pluginFlag, setFlag, tierFlag } from "../options.ts";
import { settingsOf } from "../recipe-options.ts";

/** The default recipe, for its protocol and questions. */
const DEFAULT_RECIPE = "search-r1";

/** Adds `agentrl reward check`: checks whether rewards score known answers, and attempts to cheat, as declared. */
export const rewardCheckCommand = defineCommand({
  name: "check",
  summary: "score accepted, empty, garbled and adversarial answers",
  description:
    "Play accepted, empty, garbled and adversarial answers through a recipe's environment and protocol, on its first questions, " +
    "and compare each answer reward with what it declares. Also compares the combined reward of an accepted answer with what a " +
    "policy earns without one. Exits with 2 if a reward differs, or if not answering pays more. The same check runs before " +
    "every training.",
  options: {
    recipe: ["<name>", `rewards, protocol and questions (default: ${DEFAULT_RECIPE})`],
    tier: tierFlag(),
    reward: ["<name>", `check only this reward: ${rewards.names.join(", ")}`],
    set: setFlag(),
    plugin: pluginFlag(),
    json: jsonFlag(),
  },
  async run(flags, context) {
    const { recipe: named, reward, json } = flags;
    const resolved = await settingsOf({ ...flags, recipe: named ?? DEFAULT_RECIPE });
    // Only now: a plugin may bring it.
    const part = reward === undefined ? null : await rewards.load(reward, "--reward");
    const { settings, recipe, tier } = resolved;
    // Loads the runtime, which --help does not need.
    const { checkRecipeRewards, CHECKED_QUESTIONS, requireSoundRewards } =
      await import("../../run/check-rewards.ts");
    const { openNamedDataset } = await import("../../run/assemble.ts");
    await noteAnswers([settings.dataset], context);
    const dataset = await openNamedDataset(settings.dataset, settings.environment);
    const tasks = await dataset.tasks(CHECKED_QUESTIONS);
    if (tasks.length === 0)
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `dataset: ${dataset.name} holds no questions; a check needs some. Name another by --set dataset=….`,
      );
    const { signal } = context;
    const alone =
      part === null ? [] : [{ name: part.name, weight: 1, options: part.options.parse({}) }];
    const found = await checkRecipeRewards(settings, tasks, {
      signal,
      rewards: part === null ? undefined : alone,
    });
    const where = `${recipe.name}, tier ${tier}`;
    if (json === true) context.out(JSON.stringify(asJson(found, { recipe: recipe.name, tier })));
    else context.out(rewardCheckBlocks(where, found, part === null ? settings.reward : undefined));
    requireSoundRewards(found, where);
  },
});

function asJson(check: RewardCheck, about: { recipe: string; tier: string }): object {
  return { ...about, ...check };
}
