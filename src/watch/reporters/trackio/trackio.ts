import { basename, resolve } from "node:path";
import { parseOptions, z } from "../../../base/schema.ts";
import { serverAddress } from "../../../http/http-options.ts";
import type { RunEvent } from "../../run-event.ts";
import type { Teller } from "../delivery.ts";
import { queuedReporter, queueShape } from "../queued-reporter.ts";
import type { ReporterPart } from "../reporter.ts";
import { type Ask, serverOf, ServerRefusal, serverShape, untilConnected } from "../server.ts";
import { digestOf, jsonNumber, namedFigures, subjectOf, type Told } from "../told.ts";
import { trackioAccess } from "./access.ts";
import { runIdOf } from "./run-id.ts";

const NAME = "trackio";

const options = z.strictObject({
  /** Address of a Trackio server, without its write token; TRACKIO_SERVER_URL when absent. */
  url: serverAddress.optional(),
  /** The recipe's name when absent. Trackio keeps letters, digits, `-` and `_` of it. */
  project: z.string().min(1).optional(),
  /** The run folder's name when absent. */
  runName: z.string().min(1).optional(),
  ...serverShape,
  ...queueShape,
});

/** A Trackio server, over its HTTP API of version 1. */
export const trackio: ReporterPart = {
  name: NAME,
  summary: "A Trackio server, here or as a Space of Hugging Face: metrics, evaluations, alerts.",
  options,
  async open(given, start, onTrouble) {
    const settings = parseOptions(options, given, `reporters: ${NAME}`);
    const { maxQueued, closeMs, timeoutMs } = settings;
    const access = trackioAccess(settings.url);
    const run = {
      project: settings.project ?? start.recipe,
      run: settings.runName ?? basename(resolve(start.out)),
      run_id: await runIdOf(start),
    };
    const { recipe, tier, version } = start;
    const config = { recipe, tier, agentrl: version, ...start.settings };
    const teller = trackioTeller(serverOf({ name: NAME, ...access }, timeoutMs), run, config);
    return queuedReporter(teller, { maxQueued, closeMs, intervalMs: 1000, onTrouble });
  },
};

/** How Trackio's clients name a run. */
interface RunNames {
  project: string;
  run: string;
  run_id: string;
}

/**
 * Everything told has an id made of the run, of what it is and of what it says: Trackio leaves out what it has, so that nothing
 * stands twice that a lost answer or a resumed run tells again.
 */
function trackioTeller(ask: Ask, run: RunNames, config: object): Teller {
  let isConnected = false;
  let isConfigured = false;
  return {
    name: NAME,
    fit: (waiting) => Math.min(waiting.length, MOST_AT_ONCE),
    async tell(told, signal) {
      if (!isConnected) await untilConnected(() => checkServer(ask, signal));
      isConnected = true;
      const call = async (api: string, body: object): Promise<void> => {
        const question = { path: `/api/${api}`, body: { kwargs: body }, signal };
        try {
          await ask(question, z.unknown());
        } catch (error) {
          // A server that was started again may have another token: it is for the server to take, not for what is told to change.
          isConnected = false;
          isConfigured = false;
          if (isAboutToken(error)) throw new Error((error as Error).message, { cause: error });
          throw error;
        }
      };
      const logs = told.flatMap((each) => logsOf(each, run));
      if (logs.length > 0) {
        // Of a request's settings Trackio takes the first.
        const first = isConfigured ? {} : { config };
        await call("bulk_log", {
          logs: [{ ...logs[0], ...first }, ...logs.slice(1)],
          hf_token: null,
        });
        isConfigured = true;
      }
      const alerts = told.flatMap((each) => alertsOf(each, run));
      if (alerts.length > 0) await call("bulk_alert", { alerts, hf_token: null });
    },
  };
}

/** Things in one request. */
const MOST_AT_ONCE = 200;

const versionSchema = z.object({ api_version: z.literal(1) });
const accessSchema = z.object({ data: z.object({ spaces: z.boolean(), allowed: z.boolean() }) });

/** Whether it is a Trackio server that lets us write; a Space says the latter only when it is written to. */
async function checkServer(ask: Ask, signal: AbortSignal): Promise<void> {
  await ask({ path: "/version", signal }, versionSchema);
  const question = { path: "/api/get_run_mutation_status", body: {}, signal };
  const { spaces, allowed } = (await ask(question, accessSchema)).data;
  if (spaces || allowed) return;
  throw new Error(
    "trackio: the server does not take the write token. Set TRACKIO_WRITE_TOKEN to the one that stands behind write_token= in the address that `trackio show` prints.",
  );
}

function isAboutToken(error: unknown): boolean {
  return error instanceof ServerRefusal && /write_token/.test(error.body);
}

function logsOf(told: Told, run: RunNames): object[] {
  if (told.kind !== "step" && told.kind !== "evaluation") return [];
  const figures = Object.entries(namedFigures(told));
  const metrics = Object.fromEntries(figures.map(([name, value]) => [name, jsonNumber(value)]));
  return [{ ...run, metrics, step: told.step, log_id: idOf(told, run) }];
}

function alertsOf(told: Told, run: RunNames): object[] {
  const timestamp = new Date(told.at).toISOString();
  if (told.kind === "event") {
    const { kind, step, message: text } = told.event;
    const alert = { title: kind, text, level: LEVELS[kind], step, timestamp };
    return [{ ...run, ...alert, alert_id: idOf(told, run) }];
  }
  if (told.kind !== "end" || told.outcome === "finished") return [];
  const alert = { title: `run ${told.outcome}`, text: null, step: null, timestamp };
  const level = told.outcome === "failed" ? "error" : "info";
  return [{ ...run, ...alert, level, alert_id: `${run.run_id}/end/${told.at}` }];
}

const LEVELS: Record<RunEvent["kind"], "info" | "warn" | "error"> = {
  alarm: "warn",
  rollback: "warn",
  "checkpoint-damaged": "error",
  waiting: "warn",
  lint: "info",
  budgets: "warn",
  resumed: "info",
  reporter: "warn",
};

function idOf(told: Exclude<Told, { kind: "end" }>, { run_id: run }: RunNames): string {
  return `${run}/${subjectOf(told)}/${digestOf(told)}`;
}
