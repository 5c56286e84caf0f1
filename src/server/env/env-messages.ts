/** The wire of OpenEnv 0.10: messages of a session, and the schemas that GET /schema shows. */
import { AgentrlError } from "../../base/errors.ts";
import { checkOptions, z } from "../../base/schema.ts";

/** Codes of OpenEnv's errors. */
export type EnvErrorCode =
  | "INVALID_JSON"
  | "UNKNOWN_TYPE"
  | "VALIDATION_ERROR"
  | "EXECUTION_ERROR"
  | "CAPACITY_REACHED"
  | "SESSION_ERROR";

/** One problem of a message, in pydantic's words. */
interface Detail {
  type: "missing" | "extra_forbidden" | "value_error";
  loc: (string | number)[];
  msg: string;
}

/** A refusal that a client reads; the session stays open. */
export class EnvError extends Error {
  readonly code: EnvErrorCode;
  readonly more: object;

  constructor(code: EnvErrorCode, message: string, more: object = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** Models write numbers, and verifiers parses what they write: 42 is the message "42". */
const message = z.preprocess(
  (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : value),
  z.string(),
);

const action = z.strictObject({ message, metadata: z.record(z.string(), z.unknown()).optional() });

const resetData = z.object({
  seed: z.int().min(0).nullish(),
  episode_id: z.string().max(255).nullish(),
  split: z.string().nullish(),
  index: z.int().min(0).nullish(),
});

export type ResetData = z.output<typeof resetData>;

/** @throws {EnvError} VALIDATION_ERROR */
export function parseAction(data: unknown): string {
  return parsed(action, data).message;
}

/** @throws {EnvError} VALIDATION_ERROR */
export function parseReset(data: unknown): ResetData {
  return parsed(resetData, data ?? {});
}

/** @throws {EnvError} VALIDATION_ERROR */
export function parsed<S extends z.ZodType>(schema: S, data: unknown): z.output<S> {
  const checked = checkOptions(schema, data);
  if (checked.problem === null) return checked.value;
  const { path, message: msg } = checked.problem;
  const loc = path.map((key) => (typeof key === "symbol" ? String(key) : key));
  const errors: Detail[] = [{ type: typeOf(data, loc), loc, msg }];
  throw new EnvError("VALIDATION_ERROR", `Invalid message: ${loc.join(".")} ${msg}`.trim(), {
    errors,
  });
}

function typeOf(data: unknown, [key]: readonly (string | number)[]): Detail["type"] {
  const isThere = typeof data === "object" && data !== null && key !== undefined && key in data;
  if (isThere && key !== "message") return "extra_forbidden";
  return isThere ? "value_error" : "missing";
}

/** What a session answers to reset and step. */
export interface ObservationData {
  observation: { text: string };
  reward: number | null;
  done: boolean;
  metadata: object;
}

const text = (description: string) => ({ type: "string", description });
const anyObject = { type: "object", additionalProperties: true };

/** JSON Schemas of what is sent and answered. */
export const ENV_SCHEMAS = {
  action: {
    title: "AgentrlAction",
    type: "object",
    additionalProperties: false,
    properties: { message: text("The assistant's whole turn, as text."), metadata: anyObject },
    required: ["message"],
  },
  observation: {
    title: "AgentrlObservation",
    type: "object",
    additionalProperties: false,
    properties: {
      text: text(
        "What the policy reads next: the prompt after reset, then each reply. Empty at the end.",
      ),
      done: { type: "boolean", default: false },
      reward: { type: ["number", "null"], default: null },
      metadata: anyObject,
    },
  },
  state: {
    title: "AgentrlState",
    type: "object",
    additionalProperties: true,
    properties: {
      episode_id: { type: ["string", "null"], default: null },
      step_count: { type: "integer", minimum: 0, default: 0 },
      done: { type: "boolean" },
      task_id: { type: ["string", "null"] },
      seed: { type: ["integer", "null"] },
    },
  },
};

/** The text of a failure that a client may read: agentrl's own messages. Others go to the server's log. */
export function toldOf(error: unknown, onError: (error: unknown) => void): string {
  onError(error);
  return error instanceof AgentrlError
    ? error.message
    : "The environment failed; see the server's log.";
}
