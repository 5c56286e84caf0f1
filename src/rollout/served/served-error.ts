import { checkOptions, type z } from "../../base/schema.ts";

/** A refusal in OpenAI's form. */
export class ServedError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(
    status: number,
    message: string,
    { code = null, param = null }: { code?: string | null; param?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** OpenAI's body of an error. */
export function errorBody(
  error: Pick<ServedError, "status" | "message" | "code" | "param">,
): object {
  const { status, message, code, param } = error;
  const type =
    status === 401
      ? "authentication_error"
      : status >= 500
        ? "server_error"
        : "invalid_request_error";
  return { error: { message, type, param, code } };
}

/** @throws {ServedError} 400 */
export function checkedBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const checked = checkOptions(schema, body);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  const param = path.join(".");
  throw new ServedError(400, `${param === "" ? "body" : param} ${message}`, {
    code: "invalid_value",
    param: param === "" ? null : param,
  });
}
