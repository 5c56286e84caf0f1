import type { ServerResponse } from "node:http";
import { CALIBRATION_CASES } from "../../src/rewards/judge/calibration-cases.ts";
import { localServer, type LocalServer, type Received, sendJson } from "./local-server.ts";

/** What the judge server was shown, read back from its request. */
export interface Shown {
  question?: string;
  accepted_answers: string[];
  answer: string;
}

/** A request's body, as far as the judge server looks at it. */
export interface JudgeRequest {
  messages: { role: string; content: string }[];
  seed?: number;
  response_format?: { type: string };
}

/** Says how a request is answered: text of a reply, or the response written by itself. */
export type JudgeBehaviour = (
  shown: Shown,
  request: JudgeRequest,
  response: ServerResponse,
  count: number,
) => string | null;

export interface JudgeServer extends LocalServer {
  /** Up to and including the version. */
  endpoint: string;
  /** Replaced by tests that want another. */
  behaviour: JudgeBehaviour;
}

/**
 * A judge that follows a rule: it knows the calibration cases by heart, and takes any other answer for correct when it equals an
 * accepted one in lower case. A real server of the chat protocol on loopback.
 */
export async function judgeServer(): Promise<JudgeServer> {
  const answer = (received: Received, response: ServerResponse, count: number): void => {
    const request = JSON.parse(received.body) as JudgeRequest;
    const shown = shownIn(request.messages);
    const text = found.behaviour(shown, request, response, count);
    if (text !== null) sendReply(response, text);
  };
  const server = await localServer(answer);
  const found = { ...server, endpoint: `${server.url}/v1`, behaviour: byRule };
  return found;
}

/** The case of a conversation, or of one text that has the conversation's messages one after another. */
export function shownIn(messages: JudgeRequest["messages"]): Shown {
  const [first, second = first] = messages.map(({ content }) => content);
  const json = second?.split("\n\n").find((part) => part.startsWith("{\n"));
  return JSON.parse(json ?? "{}") as Shown;
}

/** Writes a completion of that text. */
export function sendReply(response: ServerResponse, text: string, finish = "stop"): void {
  sendJson(response, {
    choices: [{ message: { role: "assistant", content: text }, finish_reason: finish }],
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  });
}

/** The rule's reply. */
export const byRule: JudgeBehaviour = (shown) => verdictText(ruleAccepts(shown));

/** Whether the rule takes an answer for correct. */
export function ruleAccepts({ answer, accepted_answers: accepted }: Shown): boolean {
  const known = CALIBRATION_CASES.find(
    ({ prediction, references }) =>
      prediction === answer && references.join("\n") === accepted.join("\n"),
  );
  return (
    known?.correct ?? accepted.some((each) => each.toLowerCase() === answer.trim().toLowerCase())
  );
}

/** A reply of the form asked for. */
export function verdictText(correct: boolean): string {
  return JSON.stringify({ reason: "By rule.", verdict: correct ? "correct" : "incorrect" });
}
