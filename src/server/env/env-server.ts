/**
 * The environment of a recipe as an OpenEnv server (protocol of openenv 0.10): one episode at a time on each WebSocket, and HTTP routes
 * that describe the environment and its questions. Other programs' trainers bring the policy; questions, tools, budgets and
 * rewards are those of `agentrl train`.
 */
import type { Duplex } from "node:stream";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { Episodes } from "../../run/episodes.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Admission, Place } from "../admission.ts";
import { listen, serverApp } from "../server-app.ts";
import { EnvError, type EnvErrorCode, parseAction, parseReset, toldOf } from "./env-messages.ts";
import { addEnvRoutes } from "./env-routes.ts";
import { type EnvSession, openEnvSession, type SessionWorld } from "./env-session.ts";

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

/** Messages of a session that may wait for an answer; a client that sends more is disconnected. */
const MOST_WAITING = 16;

/** Bytes of replies that a client may leave unread. */
const MOST_UNREAD = 16 * 2 ** 20;

/** A client has this time to close its side. */
const CLOSING_MS = 2000;

/** @param episodes stays the caller's to close. @throws {ConfigError} SERVER_UNPROTECTED, SERVER_ADDRESS. */
export async function startEnvServer(
  episodes: Episodes,
  options: EnvServerOptions,
): Promise<EnvServer> {
  const { host, port, bodyLimit, tokenizer, onError = () => undefined } = options;
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
    if (denial !== null || path !== "/ws") {
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
      serveSession(socket, open(), { ...options, room });
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

/** OpenEnv's clients read the error as the reply to their first message. */
function refuseSession(socket: WebSocket, maxSessions: number): void {
  socket.on("error", () => undefined);
  const message = `All ${maxSessions} sessions are in use. Try again later, or raise --max-sessions.`;
  const more = { active_sessions: maxSessions, max_sessions: maxSessions };
  socket.send(errorText("CAPACITY_REACHED", message, more));
  closeSoon(socket, 1013);
}

/** Answers a session's messages one after another, until the client leaves or says nothing for too long. */
function serveSession(
  socket: WebSocket,
  session: EnvSession,
  { sessionMs, room, onError = () => undefined }: EnvServerOptions & { room: Admission },
): void {
  const idle = setTimeout(() => {
    const message = `No message for ${sessionMs / 1000} s, so the session is closed.`;
    socket.send(errorText("SESSION_ERROR", message));
    closeSoon(socket, 1001);
  }, sessionMs);
  let waiting = 0;
  let last = Promise.resolve();
  const answer = async (raw: string, place: Place): Promise<void> => {
    try {
      const reply = await replyTo(session, raw);
      if (reply === null) closeSoon(socket, 1000);
      else socket.send(JSON.stringify(reply));
    } catch (error) {
      // The client has left in the meantime.
      if (socket.readyState !== socket.OPEN) return;
      if (error instanceof EnvError) socket.send(errorText(error.code, error.message, error.more));
      else socket.send(errorText("EXECUTION_ERROR", toldOf(error, onError)));
    } finally {
      waiting -= 1;
      place.leave();
      idle.refresh();
    }
  };
  // Frames that are too large and the like: the socket closes itself with the right code.
  socket.on("error", () => undefined);
  socket.on("message", (data) => {
    idle.refresh();
    waiting += 1;
    if (waiting > MOST_WAITING) closeSoon(socket, 1008, "too many messages wait for an answer");
    else if (socket.bufferedAmount > MOST_UNREAD) socket.terminate();
    else {
      const bytes = data as Buffer;
      const place = room.enter(bytes.length);
      if (typeof place === "string") closeSoon(socket, 1013, "the server is full");
      // A binary frame is read as text.
      else last = last.then(() => answer(bytes.toString("utf8"), place));
    }
  });
  socket.on("close", () => {
    clearTimeout(idle);
    session.close();
  });
}

/** Closes a socket; its place does not wait for a client that is gone. */
function closeSoon(socket: WebSocket, code: number, reason?: string): void {
  socket.close(code, reason);
  setTimeout(() => {
    socket.terminate();
  }, CLOSING_MS).unref();
}

/** @returns null: the client asked to close. @throws {EnvError} */
async function replyTo(session: EnvSession, raw: string): Promise<object | null> {
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
      throw new EnvError("UNKNOWN_TYPE", `Unknown message type: ${String(type).slice(0, 100)}`);
  }
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

function errorText(code: EnvErrorCode, message: string, more: object = {}): string {
  return JSON.stringify({ type: "error", data: { message, code, ...more } });
}
