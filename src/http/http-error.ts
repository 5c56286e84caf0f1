import { type ErrorCode, ExternalError } from "../base/errors.ts";
import type { Endpoint, HttpRequest } from "./endpoint.ts";
import type { Failure } from "./exchange.ts";
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

/** What is known when a request is given up. */
interface GivenUp {
  failure: Failure;
  attempts: number;
  spentMs: number;
  deadlineMs: number;
  /** The deadline, and not the number of retries, ended it. */
  outOfTime: boolean;
  /** Variables that hold keys. */
  keyVariables: readonly string[];
  /** What to do, where whoever asked knows better than the status says. */
  remedy?: string | undefined;
}

/** The first characters of a body that a message shows. */
const QUOTED_CHARACTERS = 200;

/** What was found and what to do, without the place in front. */
function failureMessage(given: GivenUp): string {
  const { attempts, spentMs, deadlineMs, outOfTime } = given;
  const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  const end = outOfTime ? `, given up at deadlineMs ${deadlineMs}` : "";
  return `${found(given.failure)} (${count} in ${(spentMs / 1000).toFixed(1)} s${end}). ${given.remedy ?? remedy(given)}`;
}

/** The beginning of a body, on one line. */
export function quotedBody(body: string): string {
  const line = body.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "nothing";
  const cut = line.length > QUOTED_CHARACTERS ? `${line.slice(0, QUOTED_CHARACTERS)}…` : line;
  return JSON.stringify(cut);
}

function found(failure: Failure): string {
  switch (failure.kind) {
    case "timeout":
      return `no whole answer within ${failure.timeoutMs} ms`;
    case "unreachable":
      return `no connection, or it was cut: ${failure.detail}`;
    case "cut":
      return `the reply was cut: ${failure.detail}`;
    case "garbled":
      return `the reply is not of the expected shape: ${quotedBody(failure.body)}`;
    case "too-large":
      return `the reply is larger than ${failure.maxReplyBytes} bytes`;
    case "status":
      return `status ${failure.status}, saying ${quotedBody(failure.body)}`;
  }
}

function remedy({ failure, keyVariables }: GivenUp): string {
  switch (failure.kind) {
    case "timeout":
      return "Raise timeoutMs, lower concurrency, or look whether the server is busy or stuck.";
    case "unreachable":
      return "Start the server, or correct its address.";
    case "cut":
      return "The server ended in the middle, or something between it and here did: its own log says why.";
    case "garbled":
      return "Check that the address is of the server that is meant.";
    case "too-large":
      return "Ask for fewer hits, or raise maxReplyBytes.";
    case "status":
      return statusRemedy(failure.status, failure.headers.get("location"), keyVariables);
  }
}

function statusRemedy(
  status: number,
  location: string | null,
  keyVariables: readonly string[],
): string {
  if (status >= 300 && status < 400) {
    const to = location === null ? "" : ` to ${JSON.stringify(location.replace(/[?#].*/, ""))}`;
    return `It redirects${to}: keys are not sent on to another address; set the address to that one if it is right.`;
  }
  if (status === 401 || status === 403) {
    return keyVariables.length === 0
      ? "It wants a key: name the environment variable that holds one."
      : `It refuses the key: check ${keyVariables.join(" and ")}.`;
  }
  if (status === 404) return "Check the address and the name of the index, collection or model.";
  if (status === 407)
    return "The proxy wants to know who asks: put name and password into HTTPS_PROXY, as http://name:password@host:port.";
  if (status === 429) return "It asks for fewer requests: lower concurrency, or raise deadlineMs.";
  if (status >= 500) return "The server failed: its own log says why.";
  return "It refuses the request for the reason quoted.";
}
