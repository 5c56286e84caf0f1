import { errorMessage } from "../../../base/errors.ts";
import { claimWriting } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { withDownload } from "../../model-download.ts";
import {
  deviceFlag,
  jsonFlag,
  listenOptions,
  readToken,
  seedFlag,
  wholeNumber,
} from "../../options.ts";

/** `agentrl serve policy`: a local policy behind OpenAI's API. */
export const servePolicyCommand = defineCommand({
  name: "policy",
  summary: "serve a local policy to any client of OpenAI's API",
  description:
    "Serve a policy over OpenAI's API: /v1/chat/completions, /v1/completions, /v1/models. Token ids and log-probabilities of all answers are recorded by conversation (header X-Conversation, field user, or messages that continue earlier ones); POST /v1/rewards ends one. docs/servers.md",
  options: {
    ...listenOptions(8003, { token: "API key that clients must send" }),
    bodyLimit: ["<bytes>", "largest request body", wholeNumber(1), 4 * 2 ** 20],
    policy: [
      "<model>",
      "model to serve: a folder, org/name of the hub, or a policy of this package",
      String,
      "base",
    ],
    name: ["<name>", "name of the model for clients (default: --policy)"],
    record: [
      "<file>",
      "append ended conversations to this file, one line of JSON each (default: none)",
    ],
    maxRequests: ["<n>", "requests at once; more are answered 429", wholeNumber(1), 256],
    maxConversations: [
      "<n>",
      "open conversations; beyond it the least recently used is dropped",
      wholeNumber(1),
      1024,
    ],
    adapters: [
      "<folder>",
      "let clients load adapters (LoRA) from this folder: POST /v1/load_lora_adapter, as vLLM (default: none)",
    ],
    maxAdapters: ["<n>", "adapters loaded at once", wholeNumber(1), 4],
    workers: [
      "<n>",
      "worker threads (default: one per core; one in all for a model above 64 M parameters)",
      wholeNumber(1),
    ],
    device: deviceFlag(),
    seed: seedFlag("seed of answers to requests without one (default: 0)"),
    json: jsonFlag("one line of JSON on stdout once it listens: url, name, pid"),
  },
  inherits: true,
  async run(flags, context) {
    const { openServedPolicy } = await import("../../../run/served-policy.ts");
    const { startPolicyServer } = await import("../../../server/policy/policy-server.ts");
    const { policy: from, name = from, device, workers, seed = 0, record = null } = flags;
    const { host, port, bodyLimit, maxRequests, maxConversations, adapters, maxAdapters } = flags;
    const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
    if (record !== null) claimWriting(record);
    const { signal } = context;
    const served = await withDownload(context, (download) =>
      openServedPolicy(from, { ...download, signal, device, workers }),
    );
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
  },
});
