import { randomUUID } from "node:crypto";
import { basename, resolve } from "node:path";
import { parseOptions, z } from "../../../base/schema.ts";
import type { Endpoint } from "../../../http/endpoint.ts";
import { serverAddress } from "../../../http/http-options.ts";
import { queuedReporter, queueShape, type ReporterBackend } from "../delivery.ts";
import { keptRunId } from "../kept-run-id.ts";
import {
  ALERT_LEVELS,
  digestOf,
  jsonNumber,
  namedFigures,
  subjectOf,
  type ReporterEvent,
} from "../reporter-event.ts";
import { defineReporter } from "../reporter.ts";
import {
  addressOf,
  type Ask,
  environmentValue,
  serverOf,
  ServerRefusal,
  serverShape,
  untilConnected,
} from "../server.ts";

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
export const trackio = defineReporter({
  name: NAME,
  summary: "A Trackio server, here or as a Space of Hugging Face: metrics, evaluations, alerts.",
  options,
  async open(settings, start, onTrouble) {
    const { maxQueued, closeMs, timeoutMs } = settings;
    const access = trackioAccess(settings.url);
    const run = {
      project: settings.project ?? start.recipe,
      run: settings.runName ?? basename(resolve(start.out)),
      run_id: await keptRunId(start, NAME, randomUUID),
    };
    const { recipe, tier, version } = start;
    const config = { recipe, tier, agentrl: version, ...start.settings };
    const backend = trackioBackend(serverOf({ name: NAME, ...access }, timeoutMs), run, config);
    return queuedReporter(backend, { maxQueued, closeMs, intervalMs: 1000, onTrouble });
  },
});

interface RunNames {
  project: string;
  run: string;
  run_id: string;
}

/**
 * An event's id is made of the run, its subject and its content: Trackio skips an id that it has, so a retry or a resumed run
 * stores nothing twice.
 */
function trackioBackend(ask: Ask, run: RunNames, config: object): ReporterBackend {
  let isConnected = false;
  let isConfigured = false;
  return {
    name: NAME,
    batchSize: (waiting) => Math.min(waiting.length, MOST_AT_ONCE),
    async send(batch, signal) {
      if (!isConnected) await untilConnected(() => checkServer(ask, signal));
      isConnected = true;
      const call = async (api: string, body: object): Promise<void> => {
        const question = { path: `/api/${api}`, body: { kwargs: body }, signal };
        try {
          await ask(question, z.unknown());
        } catch (error) {
          // A restarted server may have another token: the events are not at fault.
          isConnected = false;
          isConfigured = false;
          if (isAboutToken(error)) throw new Error((error as Error).message, { cause: error });
          throw error;
        }
      };
      const logs = batch.flatMap((each) => logsOf(each, run));
      if (logs.length > 0) {
        // Trackio uses the settings of a request's first item.
        const first = isConfigured ? {} : { config };
        await call("bulk_log", {
          logs: [{ ...logs[0], ...first }, ...logs.slice(1)],
          hf_token: null,
        });
        isConfigured = true;
      }
      const alerts = batch.flatMap((each) => alertsOf(each, run));
      if (alerts.length > 0) await call("bulk_alert", { alerts, hf_token: null });
    },
  };
}

/** Items in one request. */
const MOST_AT_ONCE = 200;

const versionSchema = z.object({ api_version: z.literal(1) });
const accessSchema = z.object({ data: z.object({ spaces: z.boolean(), allowed: z.boolean() }) });

/**
 * Whether it is a Trackio server that accepts writes; a Space reveals the latter only on a write.
 */
async function checkServer(ask: Ask, signal: AbortSignal): Promise<void> {
  await ask({ path: "/version", signal }, versionSchema);
  const question = { path: "/api/get_run_mutation_status", body: {}, signal };
  const { spaces, allowed } = (await ask(question, accessSchema)).data;
  if (spaces || allowed) return;
  throw new Error(
    "trackio: the server does not take the write token. Set TRACKIO_WRITE_TOKEN to the value of write_token= in the address that `trackio show` prints.",
  );
}

function isAboutToken(error: unknown): boolean {
  return error instanceof ServerRefusal && /write_token/.test(error.body);
}

function logsOf(event: ReporterEvent, run: RunNames): object[] {
  if (event.kind !== "step" && event.kind !== "evaluation") return [];
  const figures = Object.entries(namedFigures(event));
  const metrics = Object.fromEntries(figures.map(([name, value]) => [name, jsonNumber(value)]));
  return [{ ...run, metrics, step: event.step, log_id: idOf(event, run) }];
}

function alertsOf(event: ReporterEvent, run: RunNames): object[] {
  const timestamp = new Date(event.at).toISOString();
  if (event.kind === "event") {
    const { kind, step, message: text } = event.event;
    const alert = { title: kind, text, level: ALERT_LEVELS[kind], step, timestamp };
    return [{ ...run, ...alert, alert_id: idOf(event, run) }];
  }
  if (event.kind !== "end" || event.outcome === "finished") return [];
  const alert = { title: `run ${event.outcome}`, text: null, step: null, timestamp };
  const level = event.outcome === "failed" ? "error" : "info";
  return [{ ...run, ...alert, level, alert_id: `${run.run_id}/end/${event.at}` }];
}

function idOf(event: Exclude<ReporterEvent, { kind: "end" }>, { run_id: run }: RunNames): string {
  return `${run}/${subjectOf(event)}/${digestOf(event)}`;
}

const TOKEN = "TRACKIO_WRITE_TOKEN";

/**
 * The server's address and credentials: a write token and, only for a Space of Hugging Face, a token of the hub. As in Trackio's own
 * client, TRACKIO_SERVER_URL may hold the write token as `?write_token=`.
 * @throws {ConfigError} RECIPE_BAD_VALUE when neither the recipe nor the environment names a server.
 */
export function trackioAccess(url: string | undefined): Pick<Endpoint, "url" | "headers" | "keys"> {
  const { given, where } = addressOf(NAME, url, {
    variable: "TRACKIO_SERVER_URL",
    hint: ["Trackio server", "trackio show", "http://127.0.0.1:7860"],
  });
  const { address, token } = withoutToken(given);
  const checked = parseOptions(serverAddress, address, where);
  const keys: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const writeToken = environmentValue(TOKEN) ?? token;
  if (writeToken !== undefined) {
    keys[TOKEN] = writeToken;
    headers["x-trackio-write-token"] = writeToken;
  }
  const { protocol, hostname } = new URL(checked);
  const hubToken = environmentValue("HF_TOKEN");
  if (hubToken !== undefined && protocol === "https:" && hostname.endsWith(".hf.space")) {
    keys["HF_TOKEN"] = hubToken;
    headers["authorization"] = `Bearer ${hubToken}`;
  }
  return { url: checked, keys, headers };
}

/** Only `write_token` is taken out: any other secret in an address is an error, as everywhere. */
function withoutToken(given: string): { address: string; token: string | undefined } {
  if (!URL.canParse(given)) return { address: given, token: undefined };
  const url = new URL(given);
  const token = url.searchParams.get("write_token") ?? undefined;
  if (token === undefined) return { address: given, token };
  url.searchParams.delete("write_token");
  return { address: String(url), token };
}
