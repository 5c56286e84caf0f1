import type { FastifyRequest } from "fastify";
import { errorMessage } from "../../base/errors.ts";
import { checkOptions, type z } from "../../base/schema.ts";
import { callOfJson, callSchema } from "../../engine/tinker/json-messages.ts";
import { decodeCall } from "../../engine/tinker/messages.ts";

/** @throws {ApiError} 415, 422 */
export function parsed<S extends z.ZodType>(schema: S, { body }: FastifyRequest): z.output<S> {
  if (typeof body !== "string") throw new ApiError(415, "Expected application/json.");
  let value: unknown;
  try {
    value = JSON.parse(body) as unknown;
  } catch {
    throw new ApiError(422, "The body is not JSON.");
  }
  const checked = checkOptions(schema, value);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  throw new ApiError(422, `${["body", ...path].join(".")} ${message}`);
}

/** @throws {ApiError} 422 */
export function decoded(body: Buffer): ReturnType<typeof decodeCall> {
  try {
    return decodeCall(body);
  } catch (error) {
    throw new ApiError(422, `The body is no ForwardBackwardRequest: ${errorMessage(error)}`);
  }
}

export function jsonCallOf(request: FastifyRequest): ReturnType<typeof decodeCall> {
  const call = callOfJson(parsed(callSchema, request));
  if (call !== null) return call;
  throw new ApiError(422, "body.forward_backward_input is missing.");
}

/** A refusal that a client of the Tinker API reads: a status, and `detail`. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}
