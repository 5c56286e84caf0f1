import type { Command } from "commander";
import { errorMessage } from "../../../base/errors.ts";
import { packageVersion } from "../../../base/package-root.ts";
import type { CliContext } from "../../command.ts";
import { jsonOption, pluginOption, seedOption, setOption, wholeNumber } from "../../options.ts";
import { type RecipeFlags, requiredRecipe, settingsOf } from "../../recipe-options.ts";
import { readToken } from "../../server-token.ts";

interface EnvFlags extends Pick<
  RecipeFlags,
  "recipe" | "tier" | "seed" | "set" | "plugin" | "json"
> {
  host: string;
  port: number;
  tokenEnv?: string;
  bodyLimit: number;
  maxSessions: number;
  sessionTimeout: number;
  tokenizer?: string;
}

/** `agentrl serve env`: a recipe's environment as an OpenEnv server. */
export function addServeEnv(serve: Command, context: CliContext): void {
  const positive = wholeNumber(1);
  serve
    .command("env")
    .summary("serve a recipe's environment to any OpenEnv client")
    .description(
      "Serve a recipe's questions, tools, budgets and rewards as an OpenEnv environment, for trainers with a policy of their own: TRL, verifiers, prime-rl, SkyRL, NeMo Gym. WebSocket /ws, one episode at a time on each; GET /health, /metadata, /schema. docs/servers.md",
    )
    .argument("[recipe]", "name of a recipe of the package, or path of a YAML file, e.g. search-r1")
    .option("--recipe <name>", "the recipe; the same as the argument")
    .option(
      "--tier <tier>",
      "size of the recipe: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
    )
    .addOption(seedOption())
    .addOption(setOption())
    .addOption(pluginOption())
    .option(
      "--tokenizer <folder>",
      "folder with the tokenizer.json of the client's model, to count budgets in its tokens (default: four characters per token)",
    )
    .option(
      "--host <address>",
      "address to listen on; other than this machine it needs --token-env",
      "127.0.0.1",
    )
    .option("--port <n>", "port; 0 takes any free port", wholeNumber(0, 65_535), 8002)
    .option("--token-env <name>", "environment variable with the token that clients must send")
    .option("--body-limit <bytes>", "largest message", positive, 2 ** 20)
    .option(
      "--max-sessions <n>",
      "WebSockets at once; more are refused with CAPACITY_REACHED",
      positive,
      256,
    )
    .option(
      "--session-timeout <s>",
      "seconds without a message after which a session is closed",
      positive,
      900,
    )
    .addOption(jsonOption("one line of JSON on stdout once it listens: url, name, questions, pid"))
    // Options of the same name (--port, --host, …) are parsed by `serve`.
    .action((argument: string | undefined, _: unknown, command: Command) =>
      serveEnv(argument, command.optsWithGlobals<EnvFlags>(), context),
    );
}

async function serveEnv(
  argument: string | undefined,
  flags: EnvFlags,
  context: CliContext,
): Promise<void> {
  const named = requiredRecipe(argument, flags.recipe);
  const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
  const { settings, recipe, tier } = await settingsOf({ ...flags, recipe: named });
  const { openEpisodes } = await import("../../../run/episodes.ts");
  const { startEnvServer } = await import("../../../server/env/env-server.ts");
  const { loadTokenizer } = await import("../../../text/tokenizer.ts");
  const { host, port, bodyLimit, maxSessions } = flags;
  const tokenizer = flags.tokenizer === undefined ? null : await loadTokenizer(flags.tokenizer);
  const episodes = await openEpisodes(settings);
  try {
    const server = await startEnvServer(episodes, {
      host,
      port,
      bodyLimit,
      maxSessions,
      tokenizer,
      name: recipe.name,
      token,
      description: `${episodes.environment.name} of the recipe ${recipe.name}, tier ${tier}`,
      sessionMs: flags.sessionTimeout * 1000,
      version: packageVersion(),
      onError: (error) => {
        context.note(`An episode failed: ${errorMessage(error)}`);
      },
    });
    const stopped = context.untilStopped();
    const questions = episodes.tasks.length;
    const { url } = server;
    for (const reward of episodes.comparing)
      context.note(`reward "${reward}" compares episodes; here it sees each one alone.`);
    context.note(
      [
        `Serving ${recipe.name}, tier ${tier}, ${questions} questions, as an OpenEnv environment: ${url}`,
        `try    curl -s ${url}/reset -H "content-type: application/json" -d '{"seed": 0}'`,
        `stop   Ctrl-C, or kill ${process.pid}; open episodes end`,
      ].join("\n"),
    );
    if (flags.json === true)
      context.out(JSON.stringify({ url, name: recipe.name, tier, questions, pid: process.pid }));
    await stopped;
    context.note(`Stopped. Episodes ${server.stats().episodes}.`);
    await server.close();
  } finally {
    await episodes.close();
  }
}
