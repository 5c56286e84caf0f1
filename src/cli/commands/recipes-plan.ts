import type { Command } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { WORTH_A_GPU } from "../../onnx/device-probe.ts";
import type { FrozenPlan, Plan } from "../../recipe/plan/plan.ts";
import { bytesText, countText } from "../amounts.ts";
import type { CliContext } from "../command.ts";
import { deviceOption, jsonOption, seedOption, setOption } from "../options.ts";
import { settingsOf, type RecipeFlags } from "../recipe-options.ts";
import { table } from "../table.ts";

type PlanFlags = Omit<RecipeFlags, "recipe" | "out"> & { model?: string; memory?: string };

/** `agentrl recipes plan`: what a recipe would take, before anything starts. */
export function registerPlan(recipes: Command, context: CliContext): void {
  recipes
    .command("plan")
    .description(
      "Plan a recipe before anything starts: batch arithmetic, memory part by part, and what fits where it does not.",
    )
    .argument("<recipe>", "name of a shipped recipe, or a path")
    .option("--tier <tier>", "smoke, mini or paper; mini where there is one")
    .option("--model <name>", "another policy: a folder with a config.json, or org/name of the hub")
    .addOption(deviceOption())
    .option(
      "--memory <amount>",
      "what it may take, e.g. 24GB; when absent this machine's, less what the system needs",
    )
    .addOption(seedOption())
    .addOption(setOption())
    .addOption(jsonOption())
    .action(async (recipe: string, flags: PlanFlags) => {
      const { parseMemory } = await import("../../recipe/plan/parse-memory.ts");
      const { plannedRun, planRecipe } = await import("../../recipe/plan/plan.ts");
      const { plannedModel } = await import("../../recipe/plan/planned-model.ts");
      const { model, memory } = flags;
      const own = { key: "policy.from", value: model, origin: "--model" };
      const resolved = await settingsOf({ ...flags, recipe }, model === undefined ? [] : [own]);
      const budget = memory === undefined ? null : parseMemory(memory, "--memory");
      const { policy } = resolved.settings;
      const planned = await plannedModel(model === undefined ? policy : { from: model });
      const plan = planRecipe(plannedRun(resolved, planned), { memory: budget });
      const title = `${resolved.recipe.name}, tier ${resolved.tier}`;
      if (flags.json === true) context.out(JSON.stringify(plan));
      else context.out(planText(title, plan));
      if (plan.memory.fits === false) throw overBudget(title, plan);
    });
}

/** The error that ends a command whose plan is over its budget. */
function overBudget(title: string, { memory, fitting, smallest }: Plan): ConfigError {
  const { total, budget } = memory;
  const over = `${title}: is forecast to take ${bytesText(total)} of the ${bytesText(budget ?? 0)} there are.`;
  return new ConfigError("PLAN_OVER_BUDGET", `${over} ${remedy()}`);

  function remedy(): string {
    if (fitting !== null) {
      return `This fits, at ${bytesText(fitting.forecast.total)}: ${setFlags(fitting.settings)}`;
    }
    const least = "No micro-batch, number of workers or of slots makes it fit";
    if (smallest === null) return `${least}, nor do adapters or any model known here.`;
    const { model, settings, forecast } = smallest;
    const named = model === null ? "" : `--model ${model} `;
    return `${least}; ${model === null ? "adapters in place of all weights do" : "a smaller model does"}, at ${bytesText(forecast.total)}: ${named}${setFlags(settings)}`;
  }
}

/** Settings as flags. */
function setFlags(settings: Readonly<Record<string, number | boolean | string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `--set ${key}=${value}`)
    .join(" ");
}

/** A plan on one screen. */
function planText(title: string, plan: Plan): string {
  const parts = [modelText(plan), batchText(plan), memoryText(plan)];
  return [title + stagesText(plan), ...parts].join("\n\n");
}

function stagesText({ stages }: Plan): string {
  if (stages === null) return "";
  return `\nStages ${stages.all.join(", ")}: this is ${stages.planned} alone.`;
}

function modelText({ model, device }: Plan): string {
  const share = (100 * model.trained) / model.parameters;
  const trained =
    model.lora === null
      ? "all of them trained"
      : `${countText(model.trained)} trained (LoRA rank ${model.lora.rank}, ${share.toFixed(1)} %)`;
  const isSmall = model.parameters < WORTH_A_GPU;
  const auto = isSmall
    ? "processor (auto: too small for a GPU)"
    : "processor assumed (auto: a GPU is taken where one is faster; --device webgpu plans for it)";
  const assumed = device.asked === "auto" ? auto : device.chosen;
  return table([
    ["model", `${model.from} (${model.architecture})`],
    ["parameters", `${countText(model.parameters)}, ${trained}`],
    ...(model.frozen === null ? [] : [["frozen weights", frozenText(model.frozen)]]),
    ["device", assumed],
  ]);
}

function frozenText({ held, stored }: FrozenPlan): string {
  if (held === "float32") return held;
  const own = { F32: "float32", F16: "float16", BF16: "bfloat16" };
  if (stored === null) return `${held}; how they are stored is not known`;
  if (own[stored] === held) return `${held}, as they are stored`;
  return `${held}, rounded: they are stored as ${own[stored]}`;
}

function batchText({ batch }: Plan): string {
  const { prompts, groupSize, trajectories, epochs, minibatches, microBatch, tokens } = batch;
  const isTrain = batch.command === "train";
  const plural = (count: number, word: string): string =>
    `${countText(count)} ${word}${count === 1 ? "" : "s"}`;
  const rows = [
    [
      "a step",
      isTrain
        ? `${plural(prompts, "prompt")} × ${groupSize} = ${countText(trajectories)} trajectories`
        : `${countText(trajectories)} of the teacher's trajectories`,
    ],
    [
      "longest sequence",
      `${countText(batch.longest.tokens)} tokens: ${longestText(batch.longest)}`,
    ],
    [
      "optimiser",
      `${plural(batch.optimizerSteps, "step")} a step (${plural(epochs, "epoch")} × ${plural(minibatches, "minibatch").replace("minibatchs", "minibatches")})`,
    ],
    [
      "micro-batches",
      `of ${plural(microBatch.sequences, "such sequence")}, up to ${countText(microBatch.perStep)} a step`,
    ],
    [
      `${countText(batch.steps)} steps`,
      [
        ...(isTrain ? [`up to ${countText(tokens.sampled)} tokens sampled`] : []),
        `${isTrain ? "" : "up to "}${countText(tokens.trained)} trained`,
      ].join(", ") + (isTrain ? "; evaluations apart" : ""),
    ],
  ];
  return table(rows);
}

function longestText({ bound, messages, observations, prompt }: Plan["batch"]["longest"]): string {
  const count = (each: number | null): string => (each === null ? "any number" : countText(each));
  const parts = [
    `${count(messages.count)} × ${messages.each} written`,
    ...(observations.count === 0
      ? []
      : [`${count(observations.count)} × ${observations.each ?? "any length"} shown`]),
  ].join(" + ");
  if (bound === "turns") return `${parts} + a prompt of some ${prompt} (assumed)`;
  return `${bound === "context" ? "the context's budget" : "the model's positions"}; ${parts} would be more`;
}

function memoryText({ memory, device }: Plan): string {
  const { parts, total, budget, fits } = memory;
  const rows = [...parts]
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => [name, bytesText(bytes)]);
  const where = device.chosen === "webgpu" ? "on the device" : "of the process";
  const lines = table([...rows, [`forecast at the peak, ${where}`, bytesText(total)]], {
    align: ["left", "right"],
  });
  const verdict =
    budget === null
      ? "No budget: give the card's with --memory, e.g. --memory 24GB."
      : `${fits === true ? "Fits" : "Does not fit"} in ${bytesText(budget)}.`;
  return `${lines}\n\n${verdict} Retriever, index and questions come on top.`;
}
