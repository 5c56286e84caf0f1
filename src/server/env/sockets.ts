import type { WebSocket } from "ws";
import type { Admission, Place } from "../admission.ts";
import { EnvError, type EnvErrorCode, toldOf } from "./env-messages.ts";

/** Messages of a session that may wait for an answer; a client that sends more is disconnected. */
const MOST_WAITING = 16;

/** Bytes of replies that a client may leave unread. */
const MOST_UNREAD = 16 * 2 ** 20;

/** A client has this time to close its side. */
const CLOSING_MS = 2000;

/** OpenEnv's clients read the error as the reply to their first message. */
export function refuseSession(socket: WebSocket, maxSessions: number): void {
  socket.on("error", () => undefined);
  const message = `All ${maxSessions} sessions are in use. Try again later, or raise --max-sessions.`;
  const more = { active_sessions: maxSessions, max_sessions: maxSessions };
  socket.send(errorText("CAPACITY_REACHED", message, more));
  closeSoon(socket, 1013);
}

interface SocketOptions {
  /** Milliseconds without a message after which a session is closed. */
  sessionMs: number;
  /** Bytes and messages that the whole server takes at once. */
  room: Admission;
  /** Receives failures whose text clients are not told. */
  onError?: (error: unknown) => void;
}

/** A conversation over one WebSocket. */
export interface SocketSession {
  /** @returns null: the client asked to close. @throws {EnvError} */
  reply(raw: string): Promise<object | null>;
  close(): void;
}

/** Answers a session's messages one after another, until the client leaves or says nothing for too long. */
export function serveSession(
  socket: WebSocket,
  session: SocketSession,
  { sessionMs, room, onError = () => undefined }: SocketOptions,
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
      const reply = await session.reply(raw);
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

function errorText(code: EnvErrorCode, message: string, more: object = {}): string {
  return JSON.stringify({ type: "error", data: { message, code, ...more } });
}
