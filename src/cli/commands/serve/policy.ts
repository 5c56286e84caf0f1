import type { Command } from "commander";
import { errorMessage } from "../../../base/errors.ts";
import type { DeviceName } from "../../../onnx/device-names.ts";
import type { CliContext } from "../../command.ts";
import { watchDownload } from "../../model-download.ts";
import { deviceOption, jsonOption, seedOption, wholeNumber } from "../../options.ts";
import { readToken } from "../../server-token.ts";
import { claimWriting } from "../../claim-output.ts";

interface PolicyFlags {
  policy: string;
  name?: string;
  host: string;
  port: number;
  tokenEnv?: string;
  bodyLimit: number;
  maxRequests: number;
  maxConversations: number;
  record?: string;
  adapters?: string;
  maxAdapters: number;
  device?: DeviceName | "auto";
  workers?: number;
  seed?: number;
  json?: true;
}

/** `agentrl serve policy`: a local policy behind OpenAI's API. */
export function addServePolicy(serve: Command, context: CliContext): void {
  const positive = wholeNumber(1);
  serve
    .command("policy")
    .summary("serve a local policy to any client of OpenAI's API")
    .description(
      "Serve a policy over OpenAI's API: /v1/chat/completions, /v1/completions, /v1/models. Token ids and log-probabilities of all answers are recorded by conversation (header X-Conversation, field user, or messages that continue earlier ones); POST /v1/rewards ends one. docs/external-agents.md",
    )
    .option(
      "--policy <model>",
      "model to serve: a folder, org/name of the hub, or a policy of this package",
      "base",
    )
    .option("--name <name>", "name of the model for clients (default: --policy)")
    .option(
      "--record <file>",
      "append ended conversations to this file, one line of JSON each (default: none)",
    )
    .option(
      "--host <address>",
      "address to listen on; other than this machine it needs --token-env",
      "127.0.0.1",
    )
    .option("--port <n>", "port; 0 takes any free port", wholeNumber(0, 65_535), 8003)
    .option("--token-env <name>", "environment variable with the API key that clients must send")
    .option("--body-limit <bytes>", "largest request body", positive, 4 * 2 ** 20)
    .option("--max-requests <n>", "requests at once; more are answered 429", positive, 256)
    .option(
      "--max-conversations <n>",
      "open conversations; beyond it the least recently used is dropped",
      positive,
      1024,
    )
    .option(
      "--adapters <folder>",
      "let clients load adapters (LoRA) from this folder: POST /v1/load_lora_adapter, as vLLM (default: none)",
    )
    .option("--max-adapters <n>", "adapters loaded at once", positive, 4)
    .option(
      "--workers <n>",
      "worker threads (default: one per core; one in all for a model above 64 M parameters)",
      positive,
    )
    .addOption(deviceOption())
    .addOption(seedOption("seed of answers to requests without one (default: 0)"))
    .addOption(jsonOption("one line of JSON on stdout once it listens: url, name, pid"))
    // Options of the same name (--port, --host, …) are parsed by `serve`.
    .action((_: unknown, command: Command) =>
      servePolicy(command.optsWithGlobals<PolicyFlags>(), context),
    );
}

async function servePolicy(flags: PolicyFlags, context: CliContext): Promise<void> {
  const { openServedPolicy } = await import("../../../run/served-policy.ts");
  const { startPolicyServer } = await import("../../../server/policy/policy-server.ts");
  const { policy: from, name = from, device, workers, seed = 0, record = null } = flags;
  const { host, port, bodyLimit, maxRequests, maxConversations, adapters, maxAdapters } = flags;
  const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
  if (record !== null) claimWriting(record);
  const download = watchDownload(context);
  const served = await openServedPolicy(from, {
    ...download.options,
    signal: context.signal,
    device,
    workers,
  }).finally(() => {
    download.stop();
  });
  try {
    const server = await startPolicyServer(served.policy, served.template, {
      host,
      port,
      bodyLimit,
      maxRequests,
      maxConversations,
      name,
      seed,
      record,
      token,
      adapters:
        adapters === undefined
          ? undefined
          : { root: adapters, most: maxAdapters, open: served.openAdapter },
      onError: (error) => {
        context.note(`A request failed: ${errorMessage(error)}`);
      },
    });
    const stopped = context.untilStopped();
    const { url } = server;
    const body = JSON.stringify({ messages: [{ role: "user", content: "Question: …" }] });
    const key = flags.tokenEnv === undefined ? "" : ` -H "Authorization: Bearer $${flags.tokenEnv}"`; // prettier-ignore
    context.note(
      [
        `Serving ${name} over OpenAI's API: ${url}/v1`,
        `agents  export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${flags.tokenEnv === undefined ? "any" : `$${flags.tokenEnv}`}`,
        `try     curl -s ${url}/v1/chat/completions${key} -H "content-type: application/json" -d '${body}'`,
        `stop    Ctrl-C, or kill ${process.pid}`,
      ].join("\n"),
    );
    if (flags.json === true) context.out(JSON.stringify({ url, name, pid: process.pid }));
    await stopped;
    const { rewarded, dropped, conversations } = server.stats();
    context.note(
      `Stopped. Conversations with a reward ${rewarded}, dropped ${dropped}, open ${conversations}.`,
    );
    await server.close();
  } finally {
    await served.close();
  }
}
