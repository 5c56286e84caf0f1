import { errorMessage } from "../../base/errors.ts";
import { packageVersion } from "../../base/package-root.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import type { RetrievalServer } from "../../server/retrieval-server.ts";
import { serverOptions } from "../../server/server-options.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { type Flags, addOptions, jsonFlag, options, readToken, wholeNumber } from "../options.ts";
import { RETRIEVER_OPTIONS, checkRetrieverFlags, openRetrieverFlags } from "../retriever-option.ts";

const defaults = serverOptions.parse({});

function by(text: string, value: string | number): string {
  return `${text} (default: ${value})`;
}

const OPTIONS = options({
  ...RETRIEVER_OPTIONS,
  host: [
    "<address>",
    by("address to listen on; other than this machine it needs --token-env", defaults.host),
  ],
  port: ["<n>", by("port; 0 takes any free port", defaults.port), wholeNumber(0, 65_535)],
  tokenEnv: ["<name>", "environment variable with the token that clients must send"],
  concurrency: ["<n>", by("searches at once", defaults.concurrency), wholeNumber(1)],
  maxQueue: [
    "<n>",
    by("requests that may wait; more are answered 429", defaults.maxQueue),
    wholeNumber(0),
  ],
  bodyLimit: ["<bytes>", by("largest request body", defaults.bodyLimit), wholeNumber(1)],
  timeout: [
    "<ms>",
    by("time limit of a request in milliseconds, queueing included", defaults.timeoutMs),
    wholeNumber(1),
  ],
  topKLimit: ["<n>", by("largest topk of a request", defaults.topkLimit), wholeNumber(1)],
  json: jsonFlag("one line of JSON on stdout once it listens: url, fingerprint, …"),
});

type ServeFlags = Flags<typeof OPTIONS>;

/** `agentrl serve` itself: a retriever over HTTP, with the API of Search-R1's server. */
export const serveCommand: CliCommand = {
  name: "serve",
  register(command, context) {
    addOptions(command, OPTIONS).action((flags: ServeFlags) => serve(flags, context));
  },
};

async function serve(flags: ServeFlags, context: CliContext): Promise<void> {
  checkRetrieverFlags(flags);
  const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
  const retriever = await openRetrieverFlags(flags);
  try {
    const { startRetrievalServer } = await import("../../server/retrieval-server.ts");
    const passages = passagesOf(retriever);
    const server = await startRetrievalServer(
      retriever,
      { ...optionsOf(flags), token },
      { version: packageVersion(), passages, onError: noteOfErrors(context) },
    );
    const stopped = context.untilStopped();
    announce({ server, retriever, passages, flags }, context);
    await stopped;
    const { inFlight, queued } = server.stats();
    if (inFlight + queued > 0) context.note(`Stopping; to be answered first: ${inFlight + queued}`);
    await server.drain();
    const { requests, queries, errors, rejected } = server.stats();
    context.note(
      `Stopped. Requests ${requests}, queries ${queries}, failed ${errors}, turned away ${rejected}.`,
    );
  } finally {
    await retriever.close();
  }
}

/** The flags under the server's own names; absent ones stay absent. */
function optionsOf(flags: ServeFlags): Record<string, string | number> {
  const { host, port, concurrency, maxQueue, bodyLimit } = flags;
  const all = { host, port, concurrency, maxQueue, bodyLimit };
  const named = { ...all, timeoutMs: flags.timeout, topkLimit: flags.topKLimit };
  return Object.fromEntries(
    Object.entries(named).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** The passages of a retriever, if it has them. */
function passagesOf(retriever: Retriever): number | undefined {
  const { passages } = retriever as { passages?: { count?: number } };
  return passages?.count;
}

/** A repeated failure is reported once. */
function noteOfErrors(context: CliContext): (error: unknown) => void {
  let last = "";
  return (error) => {
    const message = errorMessage(error);
    if (message !== last) context.note(`A search failed: ${message}`);
    last = message;
  };
}

interface Served {
  server: RetrievalServer;
  retriever: Retriever;
  passages: number | undefined;
  flags: ServeFlags;
}

function announce({ server, retriever, passages, flags }: Served, context: CliContext): void {
  const { url } = server;
  const { name, fingerprint } = retriever;
  const header =
    flags.tokenEnv === undefined ? "" : ` -H "Authorization: Bearer $${flags.tokenEnv}"`;
  const body = JSON.stringify({ queries: ["capital of Norway"], topk: 3, return_scores: true });
  const count = passages === undefined ? "" : `, ${passages} passages`;
  context.note(
    [
      `Serving ${name}${count}: ${url}/retrieve, ${url}/health, ${url}/stats`,
      `fingerprint ${fingerprint}`,
      `try   curl -s ${url}/retrieve${header} -H "content-type: application/json" -d '${body}'`,
      `stop  Ctrl-C, or kill ${process.pid}; accepted requests are answered first`,
    ].join("\n"),
  );
  if (flags.json !== true) return;
  const { pid } = process;
  context.out(JSON.stringify({ url, name, fingerprint, passages, pid }));
}
