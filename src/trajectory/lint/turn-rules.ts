/** What must hold of turns: their order, their text, what was shown after them. */
import type { Observation, Trajectory, Turn } from "../trajectory.ts";
import type { TrajectoryLintReading } from "./lint-reading.ts";
import { joined, type LintRule, mainLine, openingText, quoted, writtenText } from "./lint-rule.ts";

export const turnOrder: LintRule = {
  name: "turn-order",
  summary: "Turns stand in the order of their calls, each on a call of its own.",
  find({ calls, turns }) {
    let last = -1;
    return turns.flatMap(({ call }, index) => {
      if (!Number.isInteger(call) || call < 0 || call >= calls.length)
        return [`turns[${index}].call is ${call}; there are ${calls.length} calls.`];
      const before = last;
      last = call;
      if (call > before) return [];
      return [`turns[${index}].call is ${call} and follows a turn of call ${before}.`];
    });
  },
};

export const turnText: LintRule = {
  name: "turn-text",
  summary: "A turn's text is what its call says, up to where the protocol cuts.",
  find(trajectory, reading) {
    const { grammar } = reading;
    const found: string[] = [];
    for (const [index, { call: number, text, chain }] of trajectory.turns.entries()) {
      const call = trajectory.calls[number];
      if (call === undefined) continue;
      const [before, written] = [openingText(call, reading), writtenText(call, reading)];
      if (before === null || written === null) return null;
      // What was withheld stands at a prompt's end as well, and begins no message.
      const opening = text.startsWith(before) ? before : "";
      const where = `turns[${index}].text is ${quoted(text)}; calls[${number}]`;
      if (grammar !== null && chain === undefined) {
        const cut = opening + written.slice(0, grammar.findCut(written) ?? undefined);
        if (cut !== text) found.push(`${where} says, up to the cut, ${quoted(cut)}.`);
      } else if (!(opening + written).includes(text)) {
        // A strategy's own question ends where it says.
        found.push(`${where} says ${quoted(opening + written)}.`);
      }
    }
    return found;
  },
};

export const shown: LintRule = {
  name: "shown",
  summary:
    "What a turn's tools found stands in the prompt that follows it, shortened on the right at most.",
  find(trajectory, reading) {
    const { calls, turns } = trajectory;
    const found: string[] = [];
    for (const [index, turn] of turns.entries()) {
      if (turn.chain !== undefined || turn.observations.length === 0) continue;
      if (readApart(trajectory, index)) continue;
      for (const [number, call] of calls.entries()) {
        if (call.parent !== turn.call) continue;
        const text = joined(
          call.prompt.filter(({ owner }) => owner === "environment"),
          reading,
        );
        if (text === null) return null;
        if (isShown(text, turn.observations, reading)) continue;
        found.push(
          `calls[${number}] follows turns[${index}] and shows ${quoted(text)}, which is not what its tools found: ${quoted(turn.observations[0]?.text ?? "")}.`,
        );
      }
    }
    return found;
  },
};

/** Whether what was found was read in a prompt of its own before the main line went on: it then goes on from other words. */
function readApart({ calls, turns }: Trajectory, index: number): boolean {
  const next = turns.findIndex(({ chain }, i) => i > index && chain === undefined);
  const between = turns.slice(index + 1, next < 0 ? undefined : next);
  return between.some(({ call }) => calls[call]?.parent === null);
}

function isShown(
  shownText: string,
  observations: readonly Observation[],
  { grammar }: TrajectoryLintReading,
): boolean {
  // A cut may fall into a character.
  const text = shownText.replace(/\uFFFD+$/, "");
  if (grammar?.renderObservations(observations).startsWith(text) === true && text !== "")
    return true;
  let at = 0;
  for (const { text: whole } of observations) {
    const wanted = whole.trim();
    if (wanted === "") continue;
    const start = text.indexOf(wanted, at);
    if (start < 0) return endsWithin(text.slice(at), wanted);
    at = start + wanted.length;
  }
  return true;
}

/** Whether a text ends with the beginning of another, at least a character of it. */
function endsWithin(text: string, wanted: string): boolean {
  const trimmed = text.trimEnd();
  for (let from = Math.max(0, trimmed.length - wanted.length); from < trimmed.length; from++) {
    if (wanted.startsWith(trimmed.slice(from))) return true;
  }
  return false;
}

export const answer: LintRule = {
  name: "answer",
  summary: "The answer is what the protocol's answer rule finds in the messages.",
  find(trajectory, reading) {
    const { grammar } = reading;
    const main = mainLine(trajectory);
    // Answers that were voted for, or read from a file, are no message's.
    if (trajectory.turns.length > main.length && main.length === 0) return [];
    if (grammar === null) return null;
    if (trajectory.calls.length === 0) return [];
    const prompt = grammar.readsPrompt ? promptOf(trajectory, reading) : "";
    if (prompt === null) return null;
    const expected = grammar.answerOf({ prompt, messages: main.map(({ text }) => text) });
    if (expected === trajectory.answer) return [];
    return [
      `answer is ${JSON.stringify(trajectory.answer)}; the protocol's rule finds ${JSON.stringify(expected)} in ${main.length} messages.`,
    ];
  },
};

function promptOf({ calls }: Trajectory, reading: TrajectoryLintReading): string | null {
  const template = (calls[0]?.prompt ?? []).filter(({ owner }) => owner === "template");
  return joined(template, reading);
}

export const end: LintRule = {
  name: "end",
  summary: "The reason for the end fits the last turn, and an error stands where one ended it.",
  find(trajectory) {
    const { end: reason, error, answer: given, calls } = trajectory;
    const found: string[] = [];
    const last = mainLine(trajectory).at(-1);
    const failed = reason === "tool-error" || reason === "model-error";
    if (failed && error === undefined) found.push(`end is ${reason} and no error says which.`);
    if (!failed && reason !== "timeout" && reason !== "cancelled" && error !== undefined)
      found.push(`end is ${reason}, and there is an error (${error.code}).`);
    const answers = last !== undefined && isAnswer(last);
    if (reason === "answered" && given === null && !answers)
      found.push("end is answered, and there is neither an answer nor a message that gives one.");
    if (["turn-limit", "invalid", "no-answer"].includes(reason) && answers)
      found.push(`end is ${reason}, and the last message is an answer.`);
    if (reason === "invalid" && last !== undefined && !hasProblem(last))
      found.push("end is invalid, and the last message has no problem.");
    if (reason === "token-limit" && calls.at(-1)?.finish !== "length")
      found.push("end is token-limit, and the last message was not cut for its length.");
    return found;
  },
};

function isAnswer({ actions }: Turn): boolean {
  return actions[0]?.tool === "answer";
}

function hasProblem({ problems, observations }: Turn): boolean {
  return problems.length > 0 || observations.some(({ problem }) => problem !== undefined);
}
