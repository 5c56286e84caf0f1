import { basename, resolve } from "node:path";
import { parseOptions, z } from "../../../base/schema.ts";
import { serverAddress } from "../../../http/http-options.ts";
import type { Teller } from "../delivery.ts";
import { environmentValue } from "../environment.ts";
import { queuedReporter, queueShape } from "../queued-reporter.ts";
import type { ReporterPart } from "../reporter.ts";
import { serverOf, serverShape, untilConnected } from "../server.ts";
import { jsonNumber, namedFigures, type Told } from "../told.ts";
import { credentials, trackingAddress } from "./access.ts";
import { connectRun, type MlflowRun } from "./connect-run.ts";
import { openLedger, type Ledger } from "./ledger.ts";
import { MOST, nameFor, tagText } from "./limits.ts";

const NAME = "mlflow";

const options = z.strictObject({
  /** Address of the tracking server; MLFLOW_TRACKING_URI when absent. */
  url: serverAddress.optional(),
  /** MLFLOW_EXPERIMENT_NAME when absent, and the recipe's name where that is not set. */
  experiment: z.string().min(1).optional(),
  /** The run folder's name when absent. */
  runName: z.string().min(1).optional(),
  ...serverShape,
  ...queueShape,
});

/** An MLflow tracking server, over its REST API 2.0. */
export const mlflow: ReporterPart = {
  name: NAME,
  summary: "An MLflow tracking server: parameters, metrics, evaluations and how the run ended.",
  options,
  async open(given, start, onTrouble) {
    const settings = parseOptions(options, given, `reporters: ${NAME}`);
    const { maxQueued, closeMs, timeoutMs } = settings;
    const url = trackingAddress(settings.url);
    const experiment =
      settings.experiment ?? environmentValue("MLFLOW_EXPERIMENT_NAME") ?? start.recipe;
    const runName = settings.runName ?? basename(resolve(start.out));
    const ask = serverOf({ name: NAME, url, ...credentials() }, timeoutMs);
    const ledger = await openLedger(start, url);
    const connect = (signal: AbortSignal): Promise<MlflowRun> =>
      connectRun(ask, { start, experiment, runName, ledger, signal });
    const teller = mlflowTeller(connect, ledger);
    return queuedReporter(teller, { maxQueued, closeMs, intervalMs: 1000, onTrouble });
  },
};

function mlflowTeller(
  connect: (signal: AbortSignal) => Promise<MlflowRun>,
  ledger: Ledger,
): Teller {
  let run: MlflowRun | null = null;
  return {
    name: NAME,
    fit: fittingCount,
    async tell(told, signal) {
      run ??= await untilConnected(() => connect(signal));
      const news = await ledger.begin(told);
      await run.log({ metrics: news.flatMap(metricsOf), tags: news.flatMap(tagsOf) }, signal);
      for (const each of news) {
        if (each.kind === "end") await run.end(STATUS[each.outcome], each.at, signal);
      }
      await ledger.done(news);
    },
  };
}

const STATUS = { finished: "FINISHED", interrupted: "KILLED", failed: "FAILED" } as const;

function metricsOf(
  told: Told,
): { key: string; value: number | string; timestamp: number; step: number }[] {
  if (told.kind !== "step" && told.kind !== "evaluation") return [];
  const { at: timestamp, step } = told;
  return Object.entries(namedFigures(told)).map(([name, value]) => ({
    ...{ key: nameFor(name), value: jsonNumber(value), timestamp, step },
  }));
}

/** The newest of each kind: MLflow has no list of events. */
function tagsOf(told: Told): { key: string; value: string }[] {
  if (told.kind !== "event") return [];
  const { kind, step, message } = told.event;
  return [{ key: `agentrl.event.${kind}`, value: tagText(`step ${step}: ${message}`) }];
}

function fittingCount(waiting: readonly Told[]): number {
  const taken = { metrics: 0, tags: 0 };
  const full = waiting.findIndex((each) => {
    if (each.kind === "step" || each.kind === "evaluation")
      taken.metrics += Object.keys(namedFigures(each)).length;
    if (each.kind === "event") taken.tags += 1;
    return taken.metrics > MOST.metrics || taken.tags > MOST.tags;
  });
  return full < 0 ? waiting.length : full;
}
