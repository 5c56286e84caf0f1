import type { Failure } from "./exchange.ts";

/** What is known when a request is given up. */
export interface GivenUp {
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
export function failureMessage(given: GivenUp): string {
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
