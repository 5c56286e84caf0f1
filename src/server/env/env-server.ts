/**
 * The environment of a recipe as an OpenEnv server (protocol of openenv 0.10): one episode at a time on each WebSocket, and HTTP routes
 * that describe the environment and its questions. Other programs' trainers bring the policy; questions, tools, budgets and
 * rewards are those of `agentrl train`.
 */
import type { Duplex } from "node:stream";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { Episodes } from "../../run/episodes.ts";
import type { PlayWorld } from "../../run/play-world.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import { listen, serverApp } from "../server-app.ts";
import { EnvError, parseAction, parseReset } from "./env-messages.ts";
import { addEnvRoutes } from "./env-routes.ts";
import { type EnvSession, openEnvSession, type SessionWorld } from "./env-session.ts";
import { openPlaySession } from "./play-session.ts";
import { refuseSession, serveSession, type SocketSession } from "./sockets.ts";

export interface EnvServerOptions {
  /** Address; other than loopback needs a token. */
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Clients send it as a bearer token. */
  token?: string;
  /** Name of the environment for clients: the recipe's. */
  name: string;
  description: string;
  /** WebSockets at once; the next one is refused with CAPACITY_REACHED. */
  maxSessions: number;
  /** Largest message or body in bytes. */
  bodyLimit: number;
  /** Milliseconds without a message after which a session is closed. */
  sessionMs: number;
  /** Counts tokens for the budgets; null: four characters per token. */
  tokenizer: Tokenizer | null;
  /** For clients that sample tokens, at /play; null: there is no such path. */
  play?: PlayWorld | null;
  version: string;
  /** Receives failures whose text clients are not told. */
  onError?: (error: unknown) => void;
}

export interface EnvServer {
  readonly url: string;
  /** Sessions now, and episodes that were begun. */
  stats(): { sessions: number; episodes: number };
  close(): Promise<void>;
}

/** @param episodes stays the caller's to close. @throws {ConfigError} SERVER_UNPROTECTED, SERVER_ADDRESS. */
export async function startEnvServer(
  episodes: Episodes,
  options: EnvServerOptions,
): Promise<EnvServer> {
  const { host, port, bodyLimit, tokenizer, play = null, onError = () => undefined } = options;
  const { app, access, room } = serverApp({
    ...options,
    health: "/health",
    noToken: "Missing or wrong token",
    refuse: (reply, status, detail) => reply.code(status).send({ detail }),
  });
  let [begun, unseeded] = [0, 0];
  const world: SessionWorld = { episodes, tokenizer, nextSeed: () => unseeded++ };
  const open = (): EnvSession => {
    const session = openEnvSession(world);
    return {
      ...session,
      async reset(data) {
        const result = await session.reset(data);
        begun += 1;
        return result;
      },
    };
  };
  const sockets = new WebSocketServer({ noServer: true, maxPayload: bodyLimit });
  const live = new Set<WebSocket>();
  const limit = { taken: () => live.size, most: options.maxSessions };
  addEnvRoutes(app, { ...options, episodes, open, limit, onError });
  app.server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const path = (request.url ?? "").split("?")[0];
    const denial = access(request.headers);
    const isPlay = path === "/play" && play !== null;
    if (denial !== null || (path !== "/ws" && !isPlay)) {
      refuse(stream, denial?.status ?? 404);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      if (live.size >= options.maxSessions) {
        refuseSession(socket, options.maxSessions);
        return;
      }
      live.add(socket);
      socket.on("close", () => live.delete(socket));
      const session = isPlay ? playSession(play) : envSession(open());
      serveSession(socket, session, { ...options, room });
    });
  });
  const url = await listen(app, { host, port }, "serve env");
  return {
    url,
    stats: () => ({ sessions: live.size, episodes: begun }),
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** Before a WebSocket exists: a bare HTTP reply. */
function refuse(stream: Duplex, status: number): void {
  stream.on("error", () => undefined);
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

/** An episode as text: OpenEnv. */
function envSession(session: EnvSession): SocketSession {
  return {
    close: () => {
      session.close();
    },
    async reply(raw) {
      const { type, data } = messageOf(raw);
      switch (type) {
        case "reset":
          return { type: "observation", data: await session.reset(parseReset(data)) };
        case "step":
          return { type: "observation", data: await session.step(parseAction(data)) };
        case "state":
          return { type: "state", data: session.state() };
        case "close":
          return null;
        case "mcp":
          return { type: "mcp", data: noMcp(data) };
        default:
          throw unknownType(type);
      }
    },
  };
}

/** An episode as tokens: the client samples them, and everything else happens here. */
function playSession(world: PlayWorld): SocketSession {
  const session = openPlaySession(world);
  return {
    close: () => {
      session.close();
    },
    async reply(raw) {
      const { type, data } = messageOf(raw);
      if (type === "play") return session.play(data);
      if (type === "sampled") return session.sampled(data);
      if (type === "close") return null;
      throw unknownType(type);
    },
  };
}

function unknownType(type: unknown): EnvError {
  return new EnvError("UNKNOWN_TYPE", `Unknown message type: ${String(type).slice(0, 100)}`);
}

/** @throws {EnvError} INVALID_JSON, VALIDATION_ERROR */
function messageOf(raw: string): { type?: unknown; data?: unknown } {
  let message: unknown;
  try {
    message = JSON.parse(raw) as unknown;
  } catch (error) {
    throw new EnvError("INVALID_JSON", `Invalid JSON: ${(error as Error).message}`);
  }
  if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
  throw new EnvError(
    "VALIDATION_ERROR",
    "Invalid message: expected a JSON object with type and data.",
  );
}

/** The tools of an episode are called in its messages, not over MCP. */
function noMcp(data: unknown): object {
  const id = typeof data === "object" && data !== null && "id" in data ? data.id : null;
  const error = { code: -32603, message: "Environment does not support MCP", data: null };
  return { jsonrpc: "2.0", id, error };
}
