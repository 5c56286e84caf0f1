import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "../../base/schema.ts";
import type { Episodes } from "../../run/episodes.ts";
import { EnvError, ENV_SCHEMAS, parseAction, parsed, parseReset, toldOf } from "./env-messages.ts";
import { type EnvSession, SPLIT } from "./env-session.ts";

/** Questions of one reply, at most; the count is always the true one. */
const MOST_TASKS = 1000;

interface Routed {
  name: string;
  description: string;
  version: string;
  episodes: Episodes;
  open: () => EnvSession;
  /** Sessions, of which a stateless request is one while it runs. */
  limit: { taken: () => number; most: number };
  onError: (error: unknown) => void;
}

/** HTTP routes: what the environment is, its questions, and OpenEnv's stateless reset and step. */
export function addEnvRoutes(app: FastifyInstance, routed: Routed): void {
  const { name, description, version, onError } = routed;
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    if (error instanceof EnvError) return sendEnvError(error, reply);
    const { statusCode = 500 } = error;
    const isOurs = statusCode >= 500;
    return reply
      .code(statusCode)
      .send({ detail: isOurs ? toldOf(error, onError) : (error as Error).message });
  });
  app.get("/health", () => ({ status: "healthy" }));
  app.get("/metadata", () => ({
    name,
    description,
    version,
    author: null,
    readme_content: null,
    documentation_url: null,
  }));
  app.get("/schema", () => ENV_SCHEMAS);
  addStateless(app, routed);
  addTasks(app, routed);
}

/** As OpenEnv's: every request has an environment of its own, so an episode needs the WebSocket. */
function addStateless(app: FastifyInstance, { open, limit }: Routed): void {
  let running = 0;
  const once = async <T>(use: (session: EnvSession) => Promise<T>): Promise<T> => {
    if (limit.taken() + running >= limit.most)
      throw new HttpError(
        503,
        `All ${limit.most} sessions are in use. Try again later, or raise --max-sessions.`,
      );
    const session = open();
    running += 1;
    try {
      return await use(session);
    } finally {
      running -= 1;
      session.close();
    }
  };
  app.get("/state", () => open().state());
  app.post("/reset", ({ body }) => once((session) => session.reset(parseReset(body))));
  app.post("/step", ({ body }) => {
    const { action } = parsed(z.object({ action: z.unknown() }), body ?? {});
    const message = parseAction(action);
    return once(async (session) => {
      await session.reset({});
      return session.step(message);
    });
  });
}

/** The training questions, without their answers. */
function addTasks(app: FastifyInstance, { name, episodes: { tasks } }: Routed): void {
  const specs = (from: number, to: number): object[] =>
    tasks
      .slice(from, Math.min(to, from + MOST_TASKS))
      .map(({ id, question }, i) => ({ id, index: from + i, question }));
  const ofSplit = z.object({ split: z.literal(SPLIT) });
  const at = (path: string): string => `/:environment/${path}`;
  app.get("/list_environments", () => [name]);
  app.get<Named>(at("splits"), ({ params }) => {
    requireName(params, name);
    return [{ name: SPLIT, type: SPLIT }];
  });
  const post = <S extends z.ZodType>(
    path: string,
    schema: S,
    answer: (body: z.output<S>) => object,
  ): void => {
    app.post<Named>(at(path), ({ params, body }) => {
      requireName(params, name);
      return answer(parsed(schema, body ?? {}));
    });
  };
  post("tasks", ofSplit, () => ({ tasks: specs(0, tasks.length), env_name: name }));
  post("num_tasks", ofSplit, () => ({ num_tasks: tasks.length }));
  post("task", ofSplit.extend({ index: z.int().min(0) }), ({ index }) => {
    const [task] = specs(index, index + 1);
    if (task === undefined) throw new HttpError(400, "Invalid task index");
    return { task };
  });
  const bound = z.int().nullish();
  post("task_range", ofSplit.extend({ start: bound, stop: bound }), ({ start, stop }) => {
    const [from, to] = sliceBounds(tasks.length, start ?? 0, stop ?? tasks.length);
    return { tasks: specs(from, to) };
  });
}

interface Named {
  Params: { environment: string };
}

class HttpError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

function requireName({ environment }: Named["Params"], name: string): void {
  if (environment !== name) throw new HttpError(404, `Unknown environment; this is "${name}".`);
}

/** Python's slice bounds: negative ones count from the end. */
function sliceBounds(length: number, start: number, stop: number): [number, number] {
  const inside = (at: number): number => Math.max(0, Math.min(length, at < 0 ? length + at : at));
  return [inside(start), inside(stop)];
}

/** FastAPI's form of a refusal. */
function sendEnvError({ code, message, more }: EnvError, reply: FastifyReply): FastifyReply {
  const { errors = message } = more as { errors?: unknown };
  return reply.code(code === "EXECUTION_ERROR" ? 500 : 422).send({ detail: errors });
}
