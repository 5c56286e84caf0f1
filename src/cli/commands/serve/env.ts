import { errorMessage } from "../../../base/errors.ts";
import { packageVersion } from "../../../base/package-root.ts";
import { defineCommand } from "../../command.ts";
import {
  jsonFlag,
  listenOptions,
  pluginFlag,
  readToken,
  seedFlag,
  setFlag,
  wholeNumber,
} from "../../options.ts";
import { RECIPE, requiredRecipe, settingsOf } from "../../recipe-options.ts";

/** `agentrl serve env`: a recipe's environment as an OpenEnv server. */
export const serveEnvCommand = defineCommand({
  name: "env",
  summary: "serve a recipe's environment to any OpenEnv client",
  description:
    "Serve a recipe's questions, tools, budgets and rewards as an OpenEnv environment, for trainers with a policy of their own: TRL, verifiers, prime-rl, SkyRL, NeMo Gym. WebSocket /ws, one episode at a time on each; /play for trainers that sample tokens and leave all else to it; GET /health, /metadata, /schema. docs/servers.md",
  args: [RECIPE],
  options: {
    ...listenOptions(8002),
    bodyLimit: ["<bytes>", "largest message", wholeNumber(1), 2 ** 20],
    recipe: ["<name>", "the recipe; the same as the argument"],
    tier: [
      "<tier>",
      "size of the recipe: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
    ],
    seed: seedFlag(),
    set: setFlag(),
    plugin: pluginFlag(),
    tokenizer: [
      "<folder>",
      "folder of the client's model with its tokenizer.json: counts budgets in its tokens (default: four characters per token), and lets clients sample tokens at /play",
    ],
    maxSessions: [
      "<n>",
      "WebSockets at once; more are refused with CAPACITY_REACHED",
      wholeNumber(1),
      256,
    ],
    sessionTimeout: [
      "<s>",
      "seconds without a message after which a session is closed",
      wholeNumber(1),
      900,
    ],
    json: jsonFlag("one line of JSON on stdout once it listens: url, name, questions, pid"),
  },
  inherits: true,
  async run(flags, context, argument) {
    const named = requiredRecipe(argument, flags.recipe);
    const token = flags.tokenEnv === undefined ? undefined : readToken(flags.tokenEnv);
    const { settings, recipe, tier } = await settingsOf({ ...flags, recipe: named });
    const { openEpisodes } = await import("../../../run/episodes.ts");
    const { openPlayWorld } = await import("../../../run/play-world.ts");
    const { startEnvServer } = await import("../../../server/env/env-server.ts");
    const { loadTokenizer } = await import("../../../text/tokenizer.ts");
    const { host, port, bodyLimit, maxSessions } = flags;
    const tokenizer = flags.tokenizer === undefined ? null : await loadTokenizer(flags.tokenizer);
    const episodes = await openEpisodes(settings);
    const play =
      tokenizer === null
        ? null
        : openPlayWorld(episodes, { folder: flags.tokenizer ?? "", tokenizer });
    try {
      const server = await startEnvServer(episodes, {
        host,
        port,
        bodyLimit,
        maxSessions,
        tokenizer,
        play,
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
      await play?.close();
      await episodes.close();
    }
  },
});
