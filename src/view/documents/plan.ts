import {
  fixed,
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
  plural,
} from "../../base/format.ts";
import { WORTH_A_GPU } from "../../onnx/device-probe.ts";
import type { PlanChecks } from "../../run/checks/plan-checks.ts";
import type { FrozenPlan, Plan } from "../../run/plan/plan.ts";
import type { TrialForecast } from "../../run/plan/trial.ts";
import { type Block, note, table } from "../document.ts";

/** A plan on one screen. */
export function planBlocks(title: string, plan: Plan): Block[] {
  const { stages } = plan;
  return [
    { kind: "text", text: title },
    ...(stages === null
      ? []
      : [
          table(
            "Stages",
            ["stage", "does", ...WORK],
            stages.work.map((each) => [each.name, each.do, each.steps, each.sampled, each.trained]),
          ),
          note(
            `Upper bounds; – where they depend on earlier stages or on the number of questions. The rest of the plan is for ${stages.planned}, which takes the most memory.`,
          ),
        ]),
    { kind: "facts", facts: modelFacts(plan) },
    { kind: "facts", facts: batchFacts(plan) },
    ...memoryBlocks(plan),
  ];
}

/** A stage's work; 0 where it does none of this kind. */
const WORK = ["steps", "tokens sampled", "tokens trained"].map((label) => ({
  label,
  format: formatCount,
}));

function modelFacts({ model, device }: Plan): [string, string][] {
  const { lora, parameters, trained } = model;
  const share = fixed(1)((100 * trained) / parameters);
  const part =
    lora === null
      ? "all of them trained"
      : `${formatCount(trained)} trained (LoRA rank ${lora.rank}, ${share} %)`;
  const auto =
    parameters < WORTH_A_GPU
      ? "processor (auto: too small for a GPU)"
      : "processor assumed (auto uses a GPU where one is faster; --device webgpu plans for it)";
  return [
    ["model", `${model.from} (${model.architecture})`],
    ["parameters", `${formatCount(parameters)}, ${part}`],
    ...(model.frozen === null
      ? []
      : [["frozen weights", frozenText(model.frozen)] as [string, string]]),
    ["device", device.asked === "auto" ? auto : device.chosen],
  ];
}

function frozenText({ held, stored }: FrozenPlan): string {
  if (held === "float32") return held;
  const own = { F32: "float32", F16: "float16", BF16: "bfloat16" };
  if (stored === null) return `${held}; their stored dtype is unknown`;
  if (own[stored] === held) return `${held}, as stored`;
  return `${held}, rounded: they are stored as ${own[stored]}`;
}

function batchFacts({ batch }: Plan): [string, string][] {
  const { prompts, groupSize, leaves, epochs, minibatches, microBatch, tokens } = batch;
  const trajectories = formatCount(batch.trajectories);
  const isTrain = batch.stage === "train";
  const trained = `${formatCount(tokens.trained)} trained`;
  return [
    [
      "a step",
      isTrain
        ? `${plural(prompts, "prompt")} × ${groupSize}${leaves === 1 ? "" : ` × ${leaves} leaves`} = ${trajectories} trajectories`
        : `${trajectories} of the teacher's trajectories`,
    ],
    [
      "longest sequence",
      `${formatCount(batch.longest.tokens)} tokens: ${longestText(batch.longest)}`,
    ],
    [
      "optimiser",
      `${plural(batch.optimizerSteps, "update")} per step (${plural(epochs, "epoch")} × ${plural(minibatches, "minibatch", "minibatches")})`,
    ],
    [
      "micro-batches",
      `of ${plural(microBatch.sequences, "such sequence")}, up to ${formatCount(microBatch.perStep)} a step`,
    ],
    [
      `${formatCount(batch.steps)} steps`,
      isTrain
        ? `up to ${formatCount(tokens.sampled)} tokens sampled, ${trained}; evaluations apart`
        : `up to ${trained}`,
    ],
  ];
}

function longestText({ bound, messages, observations, prompt }: Plan["batch"]["longest"]): string {
  const count = (each: number | null): string => (each === null ? "any number" : formatCount(each));
  const shown = `${count(observations.count)} × ${observations.each ?? "any length"} shown`;
  const parts = [
    `${count(messages.count)} × ${messages.each} written`,
    ...(observations.count === 0 ? [] : [shown]),
  ].join(" + ");
  if (bound === "turns") return `${parts} + a prompt of some ${prompt} (assumed)`;
  return `${bound === "context" ? "the context's budget" : "the model's positions"}; ${parts} would be more`;
}

function memoryBlocks({ memory, device, server }: Plan): Block[] {
  if (server !== null)
    return [note(`The training server ${server} holds the model; its memory is not known here.`)];
  const { total, budget, fits } = memory;
  const parts = memory.parts.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const where = device.chosen === "webgpu" ? "on the device" : "of the process";
  const verdict =
    budget === null
      ? "No budget: give the card's with --memory, e.g. --memory 24GB."
      : `${fits === true ? "Fits" : "Does not fit"} in ${formatBytes(budget)}.`;
  return [
    table(
      "Memory",
      ["", { label: "", format: formatBytes }],
      [...parts.map(({ name, bytes }) => [name, bytes]), [`forecast at the peak, ${where}`, total]],
    ),
    note(`${verdict} A retriever over a large corpus comes on top.`),
  ];
}

/** The findings on a plan's settings, one per line. */
export function checkBlocks({ budgets, ignored, withoutFacts }: PlanChecks): Block[] {
  const lines = [
    ...budgets.map(
      ({ severity, key, origin, message }) => `${severity}: ${key} (${origin}): ${message}`,
    ),
    ...ignored.map(({ key, origin, why }) => `ignored: ${key} (${origin}): ${why}.`),
  ];
  const missing = withoutFacts?.replace(/\.$/, "");
  return [
    ...(lines.length > 0 ? lines : ["Budgets fit together; no setting is ignored."]),
    ...(missing === undefined ? [] : [`Not checked against questions and passages: ${missing}.`]),
  ].map((text) => note(text));
}

/** Time and memory from the first steps, or why there was no trial. */
export function forecastBlocks(forecast: TrialForecast | { why: string }): Block[] {
  if ("why" in forecast) return [note(`No forecast of time: ${forecast.why}.`)];
  const { time, peakBytes, trial } = forecast;
  const { range, total } = time;
  const parts = ["opening", "evaluations", "rollouts", "updates", "checkpoints"] as const;
  const between = `${formatDuration(range.low)} – ${formatDuration(range.high)}`;
  const share =
    trial.share === 1 ? "" : `, each with ${fixed(0)(100 * trial.share)} % of its questions`;
  return [
    {
      kind: "facts",
      facts: [
        ...parts.map((part) => [part, formatDuration(time[part])] as const),
        ["forecast of the run", `${formatDuration(total)} (${between})`],
        ...(peakBytes === null
          ? []
          : [["peak memory of these steps", formatBytes(peakBytes)] as const]),
      ],
    },
    note(
      `From ${plural(trial.steps, "real step")}${share}, in ${formatDuration(trial.seconds)}; load ${formatRate(trial.load)} before. Later steps are taken to last as long as these: a policy that learns to search needs longer, and so does a busier machine.`,
    ),
  ];
}
