import { type ErrorCode, ExternalError } from "../base/errors.ts";
import type { Endpoint, HttpRequest } from "./endpoint.ts";
import type { Failure } from "./exchange.ts";
import { failureMessage, type GivenUp } from "./failure-message.ts";
import { requestUrl } from "./http-options.ts";

const CODES: Record<Failure["kind"], ErrorCode> = {
  timeout: "HTTP_TIMEOUT",
  unreachable: "HTTP_UNREACHABLE",
  cut: "HTTP_CUT",
  status: "HTTP_STATUS",
  garbled: "HTTP_BAD_REPLY",
  "too-large": "HTTP_BAD_REPLY",
};

/** The error of a request that is given up; a refusal is explained by whoever asked, where it can. */
export async function givenUp(
  endpoint: Endpoint,
  asked: HttpRequest,
  given: GivenUp,
): Promise<ExternalError> {
  const { failure } = given;
  if (failure.kind === "status" || failure.kind === "garbled") {
    // Before it is cut, or half a key could remain.
    const body = withoutKeys(endpoint, failure.body);
    const explained = failure.kind === "status" ? await asked.explain?.(failure) : undefined;
    const remedy = explained?.remedy ?? given.remedy;
    const message = failureMessage({ ...given, failure: { ...failure, body }, remedy });
    return httpError(explained?.code ?? CODES[failure.kind], endpoint, { asked, message });
  }
  const cause = "cause" in failure ? failure.cause : undefined;
  return httpError(CODES[failure.kind], endpoint, { asked, message: failureMessage(given), cause });
}

/** The place in front, every key taken out. Parameters are left out of the place: Google's key is one of them. */
export function httpError(
  code: ErrorCode,
  endpoint: Endpoint,
  { asked, message, cause }: { asked: HttpRequest; message: string; cause?: unknown },
): ExternalError {
  const { origin, pathname } = requestUrl(endpoint.url, asked.path ?? "", {});
  const text = `${endpoint.name} (${origin}${pathname}): ${message}`;
  return new ExternalError(code, withoutKeys(endpoint, text), { cause });
}

/** A text with every key of the endpoint's taken out. */
export function withoutKeys({ keys = {}, headers = {} }: Endpoint, text: string): string {
  const [, credentials = ""] = (headers["authorization"] ?? "").split(" ");
  const secrets = [...Object.values(keys), credentials].filter((secret) => secret !== "");
  return secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((left, secret) => left.replaceAll(secret, "…"), text);
}
