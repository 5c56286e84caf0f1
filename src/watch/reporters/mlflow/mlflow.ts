import { basename, resolve } from "node:path";
import { parseOptions, z } from "../../../base/schema.ts";
import type { Endpoint } from "../../../http/endpoint.ts";
import { serverAddress } from "../../../http/http-options.ts";
import { queuedReporter, queueShape, type ReporterBackend } from "../delivery.ts";
import { jsonNumber, namedFigures, type ReporterEvent } from "../reporter-event.ts";
import { defineReporter } from "../reporter.ts";
import { addressOf, environmentValue, serverOf, serverShape, untilConnected } from "../server.ts";
import { connectRun, type MlflowRun, MOST, nameFor, tagText } from "./connect-run.ts";
import { type Ledger, openLedger } from "./ledger.ts";

const NAME = "mlflow";

const options = z.strictObject({
  /** Address of the tracking server; MLFLOW_TRACKING_URI when absent. */
  url: serverAddress.optional(),
  /** MLFLOW_EXPERIMENT_NAME when absent, else the recipe's name. */
  experiment: z.string().min(1).optional(),
  /** The run folder's name when absent. */
  runName: z.string().min(1).optional(),
  ...serverShape,
  ...queueShape,
});

/** An MLflow tracking server, over its REST API 2.0. */
export const mlflow = defineReporter({
  name: NAME,
  summary: "An MLflow tracking server: parameters, metrics, evaluations and how the run ended.",
  options,
  async open(settings, start, onTrouble) {
    const { maxQueued, closeMs, timeoutMs } = settings;
    const { given, where } = addressOf(NAME, settings.url, {
      variable: "MLFLOW_TRACKING_URI",
      hint: ["tracking server", "mlflow server", "http://127.0.0.1:5000"],
    });
    const url = parseOptions(serverAddress, given, where);
    const experiment =
      settings.experiment ?? environmentValue("MLFLOW_EXPERIMENT_NAME") ?? start.recipe;
    const runName = settings.runName ?? basename(resolve(start.out));
    const ask = serverOf({ name: NAME, url, ...credentials() }, timeoutMs);
    const ledger = await openLedger(start, url);
    const connect = (signal: AbortSignal): Promise<MlflowRun> =>
      connectRun(ask, { start, experiment, runName, ledger, signal });
    const backend = mlflowBackend(connect, ledger);
    return queuedReporter(backend, { maxQueued, closeMs, intervalMs: 1000, onTrouble });
  },
});

function mlflowBackend(
  connect: (signal: AbortSignal) => Promise<MlflowRun>,
  ledger: Ledger,
): ReporterBackend {
  let run: MlflowRun | null = null;
  return {
    name: NAME,
    batchSize,
    async send(batch, signal) {
      run ??= await untilConnected(() => connect(signal));
      const news = await ledger.begin(batch);
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
  event: ReporterEvent,
): { key: string; value: number | string; timestamp: number; step: number }[] {
  if (event.kind !== "step" && event.kind !== "evaluation") return [];
  const { at: timestamp, step } = event;
  return Object.entries(namedFigures(event)).map(([name, value]) => ({
    key: nameFor(name),
    value: jsonNumber(value),
    timestamp,
    step,
  }));
}

/** The newest of each kind: MLflow has no list of events. */
function tagsOf(event: ReporterEvent): { key: string; value: string }[] {
  if (event.kind !== "event") return [];
  const { kind, step, message } = event.event;
  return [{ key: `agentrl.event.${kind}`, value: tagText(`step ${step}: ${message}`) }];
}

function batchSize(waiting: readonly ReporterEvent[]): number {
  const taken = { metrics: 0, tags: 0 };
  const full = waiting.findIndex((each) => {
    if (each.kind === "step" || each.kind === "evaluation")
      taken.metrics += Object.keys(namedFigures(each)).length;
    if (each.kind === "event") taken.tags += 1;
    return taken.metrics > MOST.metrics || taken.tags > MOST.tags;
  });
  return full < 0 ? waiting.length : full;
}

/** Authorization header from the variables that MLflow's own client reads: user and password, else a token. */
function credentials(): Pick<Endpoint, "headers" | "keys"> {
  const user = environmentValue("MLFLOW_TRACKING_USERNAME");
  const password = environmentValue("MLFLOW_TRACKING_PASSWORD");
  if (user !== undefined && password !== undefined) {
    const encoded = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
    const keys = { MLFLOW_TRACKING_PASSWORD: password };
    return { headers: { authorization: `Basic ${encoded}` }, keys };
  }
  const token = environmentValue("MLFLOW_TRACKING_TOKEN");
  if (token === undefined) return {};
  return { headers: { authorization: `Bearer ${token}` }, keys: { MLFLOW_TRACKING_TOKEN: token } };
}
