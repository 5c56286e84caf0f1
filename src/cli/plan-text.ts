import { fixed, formatBytes, formatCount, formatDuration, plural } from "../base/format.ts";
import { renderText } from "../base/table.ts";
import { WORTH_A_GPU } from "../onnx/device-probe.ts";
import type { FrozenPlan, Plan } from "../run/plan/plan.ts";
import type { PlanChecks } from "../run/checks/plan-checks.ts";
import type { TrialForecast } from "../run/plan/trial.ts";

/** A plan on one screen. */
export function planText(title: string, plan: Plan): string {
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
      : `${formatCount(model.trained)} trained (LoRA rank ${model.lora.rank}, ${fixed(1)(share)} %)`;
  const isSmall = model.parameters < WORTH_A_GPU;
  const auto = isSmall
    ? "processor (auto: too small for a GPU)"
    : "processor assumed (auto uses a GPU where one is faster; --device webgpu plans for it)";
  const assumed = device.asked === "auto" ? auto : device.chosen;
  const rows = [
    ["model", `${model.from} (${model.architecture})`],
    ["parameters", `${formatCount(model.parameters)}, ${trained}`],
    ...(model.frozen === null ? [] : [["frozen weights", frozenText(model.frozen)]]),
    ["device", assumed],
  ];
  return renderText({ rows });
}

function frozenText({ held, stored }: FrozenPlan): string {
  if (held === "float32") return held;
  const own = { F32: "float32", F16: "float16", BF16: "bfloat16" };
  if (stored === null) return `${held}; their stored dtype is unknown`;
  if (own[stored] === held) return `${held}, as stored`;
  return `${held}, rounded: they are stored as ${own[stored]}`;
}

function batchText({ batch }: Plan): string {
  const { prompts, groupSize, leaves, trajectories, epochs, minibatches, microBatch, tokens } =
    batch;
  const isTrain = batch.command === "train";
  const rows = [
    [
      "a step",
      isTrain
        ? `${plural(prompts, "prompt")} × ${groupSize}${leaves === 1 ? "" : ` × ${leaves} leaves`} = ${formatCount(trajectories)} trajectories`
        : `${formatCount(trajectories)} of the teacher's trajectories`,
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
      [
        ...(isTrain ? [`up to ${formatCount(tokens.sampled)} tokens sampled`] : []),
        `${isTrain ? "" : "up to "}${formatCount(tokens.trained)} trained`,
      ].join(", ") + (isTrain ? "; evaluations apart" : ""),
    ],
  ];
  return renderText({ rows });
}

function longestText({ bound, messages, observations, prompt }: Plan["batch"]["longest"]): string {
  const count = (each: number | null): string => (each === null ? "any number" : formatCount(each));
  const parts = [
    `${count(messages.count)} × ${messages.each} written`,
    ...(observations.count === 0
      ? []
      : [`${count(observations.count)} × ${observations.each ?? "any length"} shown`]),
  ].join(" + ");
  if (bound === "turns") return `${parts} + a prompt of some ${prompt} (assumed)`;
  return `${bound === "context" ? "the context's budget" : "the model's positions"}; ${parts} would be more`;
}

function memoryText({ memory, device, server }: Plan): string {
  if (server !== null)
    return `The training server ${server} holds the model; its memory is not known here.`;
  const { parts, total, budget, fits } = memory;
  const rows = [...parts]
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => [name, bytes]);
  const where = device.chosen === "webgpu" ? "on the device" : "of the process";
  const lines = renderText({
    columns: ["", { label: "", format: formatBytes }],
    rows: [...rows, [`forecast at the peak, ${where}`, total]],
  });
  const verdict =
    budget === null
      ? "No budget: give the card's with --memory, e.g. --memory 24GB."
      : `${fits === true ? "Fits" : "Does not fit"} in ${formatBytes(budget)}.`;
  return `${lines}\n\n${verdict} A retriever over a large corpus comes on top.`;
}

/** The findings on a plan's settings, one per line. */
export function checksText({ budgets, ignored, withoutFacts }: PlanChecks): string {
  const lines = [
    ...budgets.map(
      ({ severity, key, origin, message }) => `${severity}: ${key} (${origin}): ${message}`,
    ),
    ...ignored.map(({ key, origin, why }) => `ignored: ${key} (${origin}): ${why}.`),
  ];
  const told = lines.length > 0 ? lines.join("\n") : "Budgets fit together; no setting is ignored.";
  if (withoutFacts === null) return told;
  return `${told}\nNot checked against questions and passages: ${withoutFacts.replace(/\.$/, "")}.`;
}

/** Time and memory from the first steps, or why there was no trial. */
export function forecastText(forecast: TrialForecast | { why: string }): string {
  if ("why" in forecast) return `No forecast of time: ${forecast.why}.`;
  const { time, peakBytes, trial } = forecast;
  const { range, total } = time;
  const parts = ["opening", "evaluations", "rollouts", "updates", "checkpoints"] as const;
  const between = `${formatDuration(range.low)} – ${formatDuration(range.high)}`;
  const rows = [
    ...parts.map((part) => [part, formatDuration(time[part])]),
    ["forecast of the run", `${formatDuration(total)} (${between})`],
    ...(peakBytes === null ? [] : [["peak memory of these steps", formatBytes(peakBytes)]]),
  ];
  const share =
    trial.share === 1 ? "" : `, each with ${fixed(0)(100 * trial.share)} % of its questions`;
  return [
    renderText({ rows }),
    "",
    `From ${plural(trial.steps, "real step")}${share}, in ${formatDuration(trial.seconds)}; load ${fixed(1)(trial.load)} before. Later steps are taken to last as long as these: a policy that learns to search needs longer, and so does a busier machine.`,
  ].join("\n");
}
