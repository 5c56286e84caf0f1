import { join, resolve } from "node:path";
import { ConfigError, errorMessage } from "../../../base/errors.ts";
import { packageVersion } from "../../../base/package-root.ts";
import { claimWriting } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { deviceFlag, jsonFlag, listenOptions, readToken, wholeNumber } from "../../options.ts";

/** `agentrl serve engine`: the local engine as a server of the Tinker API. */
export const serveEngineCommand = defineCommand({
  name: "engine",
  summary: "serve this machine's engine to any client of the Tinker API",
  description:
    "Train and sample adapters (LoRA), or all weights (rank 0), of one model for other programs: the Tinker SDK, or agentrl with engine.name: tinker. Saved weights stay in --data, so that clients continue after a restart. docs/servers.md",
  options: {
    ...listenOptions(8001, {
      token: "key that clients must send; the SDK takes keys that begin with tml-",
    }),
    bodyLimit: ["<bytes>", "largest request body", wholeNumber(1), 64 * 2 ** 20],
    policy: [
      "<model>",
      "model to serve: a folder, org/name of the hub, or a policy of this package",
      String,
      "base",
    ],
    name: ["<name>", "name by which clients ask for the model (default: --policy)"],
    data: ["<folder>", "folder of saved weights", String, "served-weights"],
    maxModels: ["<n>", "models that are trained at once; each has its own copy", wholeNumber(1), 4],
    workers: [
      "<n>",
      "worker threads of each model (default: one per core; one in all for a model above 64 M parameters)",
      wholeNumber(1),
    ],
    device: deviceFlag(),
    json: jsonFlag("one line of JSON on stdout once it listens: url, name, pid"),
  },
  inherits: true,
  async run(flags, context) {
    const { policyFolder } = await import("../../../run/assemble.ts");
    const { startEngineServer } = await import("../../../server/engine/engine-server.ts");
    const { policy, name = policy, device, workers, host, port, bodyLimit, maxModels } = flags;
    const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
    claimWriting(flags.data);
    const model = resolve(await policyFolder(policy, { signal: context.signal }));
    await requireServable(model, policy);
    const server = await startEngineServer(
      { model, device, workers },
      {
        host,
        port,
        bodyLimit,
        maxModels,
        name,
        data: join(flags.data),
        token,
        version: packageVersion(),
        onError: (error) => {
          context.note(`A request failed: ${errorMessage(error)}`);
        },
      },
    );
    const stopped = context.untilStopped();
    context.note(
      [
        `Serving ${name} over the Tinker API: ${server.url}`,
        `train  agentrl train --recipe search-r1 --tier smoke --set engine.name=tinker --set engine.url=${server.url} --set "policy.lora={}"`,
        `stop   Ctrl-C, or kill ${process.pid}; saved weights stay in ${flags.data}`,
      ].join("\n"),
    );
    if (flags.json === true)
      context.out(JSON.stringify({ url: server.url, name, pid: process.pid }));
    await stopped;
    await server.close();
  },
});

/**
 * Refuses at the start what no client could train.
 * @throws {ConfigError} ENGINE_UNFIT for adapters: clients make their own over a whole model.
 * @throws {DataError} as `readDecoderConfig`, `requireAsRecorded` and `loadTokenizer`.
 */
async function requireServable(model: string, policy: string): Promise<void> {
  const [{ baseOfAdapter, isAdapterFolder }, { readDecoderConfig }, { requireAsRecorded }, text] =
    await Promise.all([
      import("../../../models/lora/adapter-folder.ts"),
      import("../../../models/checkpoint.ts"),
      import("../../../models/recorded-files.ts"),
      import("../../../text/tokenizer.ts"),
    ]);
  if (isAdapterFolder(model))
    throw new ConfigError(
      "ENGINE_UNFIT",
      `--policy ${policy}: contains adapters, but clients of serve engine make their own over a whole model. Give their base, ${await baseOfAdapter(model)}; a client continues with saved adapters from --data.`,
    );
  await readDecoderConfig(model);
  await requireAsRecorded(model);
  await text.loadTokenizer(model);
}
