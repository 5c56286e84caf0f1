import { AgentrlError, DataError } from "../../base/errors.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import type { PolicyOptions } from "../../run/bases.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { LintUnit } from "../../trajectory/lint/lint-lines.ts";
import { lintBlocks, type LintOutcome } from "../../view/documents/checks.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { withDownload } from "../model-download.ts";
import { decimal, deviceFlag, type Flags, jsonFlag, options, wholeNumber } from "../options.ts";
import { findOrigin, lintContextsOf, type TraceOrigin } from "../trace/trace-origin.ts";
import { openTraceTexts } from "../trace/trace-texts.ts";

/** Nats by which the processor's sampling and scoring of a token may differ; measured: 0.000001 on one machine. */
const TOLERANCE = 0.01;
const KEPT = 100;

type LintFlags = Flags<typeof OPTIONS>;

const OPTIONS = options({
  protocol: ["<name>", "protocol of the messages (default: from the run's files)"],
  model: [
    "<model>",
    "model that sampled, to recompute log-probabilities: a folder, a model of the hub, or base (default: do not recompute)",
  ],
  tolerance: [
    "<nats>",
    `largest difference of log-probabilities (default: ${TOLERANCE})`,
    decimal(0),
  ],
  device: deviceFlag(),
  limit: [
    "<n>",
    `violations listed of each rule (default: ${KEPT}); all are counted`,
    wholeNumber(1),
  ],
  json: jsonFlag("one JSON document on stdout: .checked, .violations[], .counts"),
});

/** Adds `lint` to `agentrl trace`. */
export const traceLint = defineCommand({
  name: "lint",
  summary: "check that trajectories hold together",
  description:
    "Check every trajectory of a file by fixed rules (docs/files.md): lengths of ids and log-probabilities, who owns what, calls, " +
    "turns and observations in place, answers as the protocol reads them, hints, rewards. The file is a trajectories.jsonl, a " +
    "step-N.jsonl of a run, a samples.jsonl, draws.jsonl or pairs.jsonl. How they were made is read from the " +
    "recipe.resolved.yaml or results.json beside the file. Exits with 3 if a rule is broken.",
  args: [["<file>", "JSON lines of trajectories, samples, draws or pairs; .gz is unpacked"]],
  options: OPTIONS,
  run: (flags, context, file) => lint(file, flags, context),
});

async function lint(file: string, flags: LintFlags, context: CliContext): Promise<void> {
  const outcome = await lintFile(file, flags, context);
  const { checked, violations, counts, unknown } = outcome.report;
  if (checked === 0 && Object.keys(counts).length === 0)
    throw new DataError(
      "DATA_EMPTY",
      `${file}: the file is empty; expected one trajectory a line, such as trajectories.jsonl of \`agentrl eval --out\`.`,
    );
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (flags.json === true) {
    const { origin, recomputed } = outcome;
    const told = { file, checked, violations, counts, unknown, readFrom: origin };
    context.out(JSON.stringify({ ...told, recomputed: recomputed ?? undefined }));
  } else context.out(lintBlocks(file, outcome));
  if (total === 0) return;
  throw new DataError(
    "TRACE_VIOLATIONS",
    `${file}: ${total} ${total === 1 ? "violation" : "violations"} in ${checked} trajectories (${Object.keys(counts).join(", ")}). docs/files.md explains each rule. Delete these lines, or draw them again.`,
  );
}

async function lintFile(
  file: string,
  { protocol, model: named, device, ...flags }: LintFlags,
  context: CliContext,
): Promise<LintOutcome> {
  const { openLint } = await import("../../trajectory/lint/open-lint.ts");
  const origin = await findOrigin(file, protocol);
  const { signal } = context;
  const model = await withDownload(context, async (options) => {
    const download = { ...options, signal };
    return named === undefined ? null : openLintModel(named, { download, device, origin });
  });
  try {
    const texts = await openTraceTexts(origin, model);
    const reading = { ...texts, contextOf: await lintContextsOf(origin) };
    const lint = openLint(reading, { keep: flags.limit ?? KEPT });
    for (const message of model?.templateProblems ?? [])
      lint.add({ id: null, line: null, code: "template", message });
    const again = model?.recompute(flags.tolerance ?? TOLERANCE, (of, message) => {
      const [line = "", id = ""] = of.split(/ (.*)/s);
      lint.add({ id, line: Number(line), code: "logprob-drift", message });
    });
    const onBadLine = (error: DataError): void => {
      const line = Number(/:(\d+): /.exec(error.message)?.[1]);
      lint.add({ id: null, line, code: "json", message: error.message });
    };
    for await (const { value, line } of readJsonl(file, { onBadLine })) {
      signal.throwIfAborted();
      for (const unit of lint.line(value, line)) await again?.add(`${line} ${unit.id}`, unit);
    }
    const recomputed = (await again?.finish()) ?? null;
    return { report: lint.report(), origin: origin?.from ?? null, recomputed };
  } finally {
    await model?.close();
  }
}

type Recomputed = NonNullable<LintOutcome["recomputed"]>;

/** A model to check trajectories with. */
interface LintModel {
  tokenizer: Tokenizer;
  vocabSize: number;
  /** Why its chat template cannot be used for training; empty if the run used none. */
  templateProblems: string[];
  recompute(
    tolerance: number,
    onDrift: (of: string, message: string) => void,
  ): { add(of: string, unit: LintUnit): Promise<void>; finish(): Promise<Recomputed> };
  close(): Promise<void>;
}

/** @throws {DataError | ConfigError} when it names no model that can be run. */
async function openLintModel(
  named: string,
  options: { download: PolicyOptions; device: string | undefined; origin: TraceOrigin | null },
): Promise<LintModel> {
  const { baseFolder, policyFolder } = await import("../../run/assemble.ts");
  const { openPolicyEngine } = await import("../../engine/open-engine.ts");
  const { recomputeLogprobs } = await import("../../rollout/recomputed-logprobs.ts");
  const { download, origin, device } = options;
  const model = await policyFolder(named, download);
  const base = await baseFolder(model, download);
  const engine = await openPolicyEngine({
    model,
    trains: false,
    base: base ?? undefined,
    device: device === undefined ? undefined : (device as DeviceName | "auto"),
  });
  return {
    tokenizer: engine.tokenizer,
    vocabSize: engine.capabilities.vocabSize,
    templateProblems: await templateProblems(base ?? model, engine.tokenizer, origin),
    recompute(tolerance, onDrift) {
      const again = recomputeLogprobs(engine, { tolerance, onDrift });
      let otherwiseDrawn = 0;
      return {
        async add(of, { trajectory, provenance }) {
          const drawn = origin?.drawSettingsOf(trajectory, provenance);
          const { temperature = 1 } = drawn?.sampling ?? {};
          const isRecorded = [0, 1].includes(temperature) || trajectory.calls.some((call) => call.temperature !== undefined); // prettier-ignore
          if (isRecorded && drawn?.rounded !== true) await again.add(of, trajectory);
          else otherwiseDrawn += 1;
        },
        finish: async () => ({ ...(await again.finish()), otherwiseDrawn }),
      };
    },
    close: () => engine.close(),
  };
}

/** Whether the model's chat template keeps earlier turns unchanged, if the run used it. */
async function templateProblems(
  folder: string,
  tokenizer: Tokenizer,
  origin: TraceOrigin | null,
): Promise<string[]> {
  if (origin?.chat === undefined) return [];
  const { loadChatTemplate } = await import("../../chat/load-chat-template.ts");
  const { chatRendering } = await import("../../rollout/chat-rendering.ts");
  try {
    const template = await loadChatTemplate(folder, {
      tools: origin.environment.protocol.writeCalls !== undefined,
    });
    chatRendering(template, tokenizer, origin.chat);
    return [];
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    return [error.message];
  }
}
