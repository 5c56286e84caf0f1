import { fastify, type FastifyInstance, type FastifyReply } from "fastify";
import { type Access, accessRule } from "./access.ts";
import { type Admission, admission } from "./admission.ts";

export interface AppOptions {
  /** Listen address; addresses other than loopback require a token. */
  host: string;
  token?: string;
  /** Largest body in bytes. */
  bodyLimit: number;
  /** Milliseconds in which a request must have arrived; default 60 000. */
  arrivalMs?: number;
  /** The route that needs no token. */
  health: string;
  /** Message for a client that lacks the right token. */
  noToken: string;
  /** The header of the token where it is not Authorization; its value is the token. */
  tokenHeader?: string;
  /** Whether the routes themselves bound the memory of bodies. */
  admits?: boolean;
  /** Sends a refusal in the server's own form. @param status 401, 403, 429 */
  refuse: (reply: FastifyReply, status: number, message: string) => unknown;
}

/** The application of a server without its routes. */
export interface ServerApp {
  app: FastifyInstance;
  access: Access;
  /** Memory of requests under way. */
  room: Admission;
}

/** Bytes of bodies at once, over all requests: at least this, and four of the largest. */
const LEAST_MEMORY = 64 * 2 ** 20;

/** After this time without a sign of life the system asks whether the other side is still there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * What all servers have in common: who may ask (`accessRule`), how much may be under way, and how long a client may take to send it.
 * @throws {ConfigError} SERVER_UNPROTECTED
 */
export function serverApp(options: AppOptions): ServerApp {
  const {
    host,
    token,
    bodyLimit,
    arrivalMs = 60_000,
    health,
    tokenHeader,
    admits = false,
    refuse,
  } = options;
  const access = accessRule({ host, token });
  const room = admission(Infinity, Math.max(LEAST_MEMORY, 4 * bodyLimit));
  const app = fastify({
    bodyLimit,
    requestTimeout: arrivalMs,
    routerOptions: { ignoreTrailingSlash: true },
    // The routes send the final messages.
    return503OnClosing: false,
  });
  // A client whose machine is gone must not hold its place.
  app.server.on("connection", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  app.addHook("onRequest", ({ headers, routeOptions: { url } }, reply, done) => {
    const given = tokenHeader === undefined ? undefined : headers[tokenHeader];
    const asked =
      typeof given === "string" ? { ...headers, authorization: `Bearer ${given}` } : headers;
    const denial = access(asked, url === health);
    if (denial !== null) {
      const message = denial.status === 401 ? options.noToken : denial.message;
      refuse(reply, denial.status, message);
    } else if (admits || url === health) done();
    else {
      const length = Number(
        headers["content-length"] ?? (headers["transfer-encoding"] === undefined ? 0 : bodyLimit),
      );
      const place = room.enter(Math.min(length, bodyLimit));
      if (typeof place === "string") {
        refuse(
          reply.header("retry-after", 1),
          429,
          "The server is full. Try again after the seconds in Retry-After.",
        );
        return;
      }
      reply.raw.once("close", () => {
        place.leave();
      });
      done();
    }
  });
  return { app, access, room };
}
