import { once } from "node:events";
import { WebSocket } from "ws";
import { onTestFinished } from "vitest";
import { type Episodes, openEpisodes } from "../../src/run/episodes.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import type { Override } from "../../src/run/settings/settings.ts";
import type { Settings } from "../../src/run/settings/settings-schema.ts";
import { type EnvServer, startEnvServer } from "../../src/server/env/env-server.ts";

/** A reply of a session. */
export interface EnvReply {
  type: string;
  data: {
    observation?: { text: string };
    reward?: number | null;
    done?: boolean;
    metadata?: Record<string, unknown>;
    message?: string;
    code?: string;
    [key: string]: unknown;
  };
}

/** One WebSocket whose replies are read in order. */
export interface EnvClient {
  socket: WebSocket;
  send(raw: string): void;
  read(): Promise<EnvReply>;
  ask(type: string, data?: object): Promise<EnvReply>;
  /** The code with which the server has closed, or closes. */
  closed(): Promise<number>;
}

/** A client after its handshake. */
export async function connectEnv(
  url: string,
  headers: Record<string, string> = {},
  path = "/ws",
): Promise<EnvClient> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, { headers });
  onTestFinished(() => {
    socket.terminate();
  });
  const replies: EnvReply[] = [];
  const takers: ((reply: EnvReply) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const reply = JSON.parse(data.toString()) as EnvReply;
    const taker = takers.shift();
    if (taker === undefined) replies.push(reply);
    else taker(reply);
  });
  const closing = new Promise<number>((resolve) => socket.on("close", resolve));
  await once(socket, "open");
  const read = (): Promise<EnvReply> => {
    const first = replies.shift();
    return first === undefined
      ? new Promise((resolve) => takers.push(resolve))
      : Promise.resolve(first);
  };
  const send = (raw: string): void => {
    socket.send(raw);
  };
  return {
    socket,
    send,
    read,
    ask(type, data) {
      send(JSON.stringify(data === undefined ? { type } : { type, data }));
      return read();
    },
    closed: () => closing,
  };
}

/** The smoke tier of a recipe behind an environment server of this process. */
export async function serveRecipeEnv(
  recipe: string,
  options: Partial<Parameters<typeof startEnvServer>[1]> = {},
  overrides: readonly Override[] = [],
): Promise<{ server: EnvServer; episodes: Episodes; settings: Settings }> {
  const { settings } = await resolveRecipe(recipe, { tier: "smoke", overrides });
  const episodes = await openEpisodes(settings);
  const server = await startEnvServer(episodes, {
    host: "127.0.0.1",
    port: 0,
    name: recipe,
    description: "test",
    version: "0",
    maxSessions: 8,
    bodyLimit: 100_000,
    sessionMs: 60_000,
    tokenizer: null,
    ...options,
  });
  onTestFinished(async () => {
    await server.close();
    await episodes.close();
  });
  return { server, episodes, settings };
}
