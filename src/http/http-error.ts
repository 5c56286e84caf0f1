import { formatDuration } from "../base/format.ts";
import { type ErrorCode, ExternalError } from "../base/errors.ts";
import { escapeRegExp } from "../base/escape-reg-exp.ts";
import type { Endpoint, HttpRequest, SettingName } from "./endpoint.ts";
import type { Failure } from "./exchange.ts";
import { requestUrl } from "./http-options.ts";
import { messageIn } from "./refusal.ts";

const CODES: Record<Failure["kind"], ErrorCode> = {
  timeout: "HTTP_TIMEOUT",
  unreachable: "HTTP_UNREACHABLE",
  cut: "HTTP_CUT",
  status: "HTTP_STATUS",
  garbled: "HTTP_BAD_REPLY",
  "too-large": "HTTP_BAD_REPLY",
};

/** The error of a request after its last attempt; the request's `explain` may add a remedy to a refusal. */
export async function givenUp(
  endpoint: Endpoint,
  asked: HttpRequest,
  given: GivenUp,
): Promise<ExternalError> {
  const { failure } = given;
  if (failure.kind === "status" || failure.kind === "garbled") {
    // Before the body is truncated, or half a key could remain.
    const body = withoutKeys(endpoint, failure.body);
    const explained = failure.kind === "status" ? await asked.explain?.(failure) : undefined;
    const remedy = explained?.remedy ?? given.remedy;
    const message = failureMessage(endpoint, { ...given, failure: { ...failure, body }, remedy });
    return httpError(explained?.code ?? CODES[failure.kind], endpoint, { asked, message });
  }
  const cause = "cause" in failure ? failure.cause : undefined;
  return httpError(CODES[failure.kind], endpoint, {
    asked,
    message: failureMessage(endpoint, given),
    cause,
  });
}

/** An error with the place in front and without keys. The place omits query parameters: Google's key is one of them. */
export function httpError(
  code: ErrorCode,
  endpoint: Endpoint,
  { asked, message, cause }: { asked: HttpRequest; message: string; cause?: unknown },
): ExternalError {
  const { origin, pathname } = requestUrl(endpoint.url, asked.path ?? "", {});
  const text = `${endpoint.name} (${origin}${pathname}): ${message}`;
  return new ExternalError(code, withoutKeys(endpoint, text), { cause });
}

/** A text without the endpoint's keys, also where a server wrote them into JSON, or into JSON inside of JSON. */
export function withoutKeys({ keys = {}, headers = {} }: Endpoint, text: string): string {
  const [, credentials = ""] = (headers["authorization"] ?? "").split(" ");
  const secrets = [...Object.values(keys), credentials].filter((secret) => secret !== "");
  return secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((left, secret) => left.replaceAll(escaped(secret), "…"), text);
}

/** The secret with any number of backslashes before its characters. */
function escaped(secret: string): RegExp {
  const parts = Array.from(secret, (each) => (each === "\\" ? "" : escapeRegExp(each)));
  return new RegExp(parts.map((part) => `\\\\*${part}`).join(""), "g");
}

interface GivenUp {
  failure: Failure;
  attempts: number;
  spentMs: number;
  deadlineMs: number;
  /** True when the deadline ended it, not the number of retries. */
  outOfTime: boolean;
  keyVariables: readonly string[];
  /** What to do, when the caller knows more than the status says. */
  remedy?: string | undefined;
}

const QUOTED_CHARACTERS = 200;

function failureMessage({ nameOf = String }: Endpoint, given: GivenUp): string {
  const { attempts, spentMs, deadlineMs, outOfTime } = given;
  const count = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  const end = outOfTime ? `, stopped at deadlineMs ${deadlineMs}` : "";
  return `${found(given.failure)} (${count} in ${formatDuration(spentMs / 1000)}${end}). ${given.remedy ?? remedy(given, nameOf)}`;
}

/** What a body says, on one line: the text of a web page, the message of a long error, else the body's beginning. */
export function quotedBody(body: string): string {
  const isPage = /^\s*<(!doctype html|html|head|title|meta|body|h1|center|pre|div|p)\b/i.test(body);
  const line = onOneLine(isPage ? pageText(body) : body);
  if (line === "") return isPage ? "an empty web page" : "nothing";
  const said = line.length > QUOTED_CHARACTERS && !isPage ? (messageOf(body) ?? line) : line;
  const quoted = JSON.stringify(
    said.length > QUOTED_CHARACTERS ? `${said.slice(0, QUOTED_CHARACTERS)}…` : said,
  );
  return isPage ? `${quoted} (a web page)` : quoted;
}

function messageOf(body: string): string | null {
  try {
    const said = messageIn(JSON.parse(body));
    return said === null ? null : onOneLine(said);
  } catch {
    return null;
  }
}

function pageText(page: string): string {
  return page
    .replaceAll(/<(style|script)\b[\s\S]*?(<\/\1\s*>|$)/gi, " ")
    .replaceAll(/<[^>]*(>|$)/g, " ");
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function found(failure: Failure): string {
  switch (failure.kind) {
    case "timeout":
      return `no whole answer within ${Math.round(failure.timeoutMs)} ms`;
    case "unreachable":
      return `no connection, or the connection was cut: ${failure.detail}`;
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

function remedy({ failure, keyVariables }: GivenUp, nameOf: SettingName): string {
  switch (failure.kind) {
    case "timeout":
      return either(
        ["raise", nameOf("timeoutMs")],
        ["lower", nameOf("concurrency")],
        "check whether the server is busy or stuck",
      );
    case "unreachable":
      return "Start the server, or correct its address.";
    case "cut":
      return "The server or a proxy ended the connection; check the server's log.";
    case "garbled":
      return "Check that the address belongs to the right server.";
    case "too-large":
      return either("ask for less", ["raise", nameOf("maxReplyBytes")]);
    case "status":
      return statusRemedy(failure, keyVariables, nameOf);
  }
}

/** What can be done, as a sentence; a verb and the name of a setting, which may not exist. */
function either(...ways: (string | [verb: string, setting: string | null])[]): string {
  const open = ways.flatMap((way) =>
    typeof way === "string" ? way : way[1] === null ? [] : `${way[0]} ${way[1]}`,
  );
  const [last = "", ...others] = open.toReversed();
  const text = others.length === 0 ? last : `${others.toReversed().join(", ")}, or ${last}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function statusRemedy(
  { status, headers }: Failure & { kind: "status" },
  keyVariables: readonly string[],
  nameOf: SettingName,
): string {
  if (status >= 300 && status < 400) {
    const location = headers.get("location");
    const to = location === null ? "" : ` to ${JSON.stringify(location.replace(/[?#].*/, ""))}`;
    return `The server redirects${to}, and keys are not sent to another address; if the new address is right, set it.`;
  }
  if (status === 401 || status === 403) {
    if (keyVariables.length === 0)
      return `The server requires a key: put it into an environment variable and name that with ${nameOf("apiKeyEnv") ?? "the setting for it"}.`;
    // Without names of settings the variable cannot be chosen.
    const name = nameOf("apiKeyEnv");
    const another = nameOf === String || name === null ? "" : `, or name another one with ${name}`;
    return `The server rejects the key: check the environment variable ${keyVariables.join(" and ")}${another}.`;
  }
  if (status === 404) return "Check the address and the name of the index, collection or model.";
  if (status === 407)
    return "The proxy requires a login: put name and password into HTTPS_PROXY, as http://name:password@host:port.";
  if (status === 429)
    return `The server's rate limit is exceeded. ${either(
      ["lower", nameOf("concurrency")],
      ["raise", nameOf("deadlineMs")],
      "ask its operator for a higher one",
    )}`;
  if (status >= 500) return "The server failed; check its log.";
  return "The server rejects the request for the quoted reason.";
}
