import type { NumberFormat } from "../base/format.ts";
import { type Column, renderText } from "../base/table.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import type { BatchReplay } from "../run/train/replay-batch.ts";
import type { CliContext } from "./command.ts";
import { withDownload } from "./model-download.ts";

/** `agentrl train --replay-batch N`: recomputes a step's update from its saved batch, and writes nothing. */
export async function showReplay(
  context: CliContext,
  resolved: ResolvedSettings<Settings>,
  { run, step, json }: { run: string; step: number; json: boolean },
): Promise<void> {
  const { replayBatch } = await import("../run/train/replay-batch.ts");
  const { recordOf } = await import("../run/settings/resolved-yaml.ts");
  const { signal } = context;
  const recipe = { settings: resolved.settings, record: recordOf(resolved) };
  const replay = await withDownload(context, (download) =>
    replayBatch(recipe, { run, step, signal, download }),
  );
  context.out(json ? JSON.stringify(replay) : asText(replay));
}

function asText({ step, from, logged, replayed, klAfter }: BatchReplay): string {
  const rows = Object.entries(replayed).map(([name, value]) => {
    const then = logged?.[name];
    const difference = then === undefined ? "" : then === value ? "=" : value - then;
    return [name, then ?? null, value, difference];
  });
  const isSame = Object.entries(replayed).every(([name, value]) => logged?.[name] === value);
  const begun = from === 0 ? "the start" : `the checkpoint of step ${from}`;
  const outcome = isSame
    ? "Every metric equals the logged one, to the last bit."
    : "Settings, device or workers are not those of the run, or its metrics were not logged.";
  return [
    renderText({ columns: [`step ${step}`, ...COLUMNS], rows }),
    "",
    `replayed from ${begun}; after the step's updates the policy is ${shortly(klAfter)} nats (KL per token) from the one that sampled`,
    ...(logged === null ? [`the run logged no step ${step}`] : [outcome]),
  ].join("\n");
}

/** Six digits: enough to distinguish two learning rates. */
const shortly: NumberFormat = (value) => String(Number(value.toPrecision(6)));

const COLUMNS = ["logged", "replayed", "difference"].map((label): Column => ({
  label,
  format: shortly,
}));
