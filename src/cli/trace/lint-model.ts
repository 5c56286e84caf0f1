import { AgentrlError } from "../../base/errors.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import type { LintOutcome } from "../../view/documents/checks.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { LintUnit } from "../../trajectory/lint/lint-lines.ts";
import type { PolicyOptions } from "../../run/bases.ts";
import type { TraceOrigin } from "./trace-origin.ts";

type Recomputed = NonNullable<LintOutcome["recomputed"]>;

/** A model to check trajectories with. */
export interface LintModel {
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
export async function openLintModel(
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
