/** Rules for turns: their order, their text, their observations. */
import {
  answerOfCalls,
  type Call,
  type Observation,
  type Trajectory,
  type Turn,
} from "../trajectory.ts";
import type { TrajectoryLintReading } from "./lint-reading.ts";
import { joined, type LintRule, mainLine, openingText, quoted, writtenText } from "./lint-rule.ts";

export const turnOrder: LintRule = {
  name: "turn-order",
  summary: "Turns are in the order of their calls, and each has its own call.",
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
  summary: "A turn's text equals its call's text up to the protocol's cut.",
  find(trajectory, reading) {
    const { grammar } = reading;
    const found: string[] = [];
    for (const [index, { call: number, text, chain }] of trajectory.turns.entries()) {
      const call = trajectory.calls[number];
      if (call === undefined) continue;
      const segments = segmentsOf(trajectory.calls, call);
      const before = openingText(segments[0] ?? call, reading);
      const texts = segments.map((each) => writtenText(each, reading));
      const written = texts.includes(null) ? null : texts.join("");
      if (before === null || written === null) return null;
      // Hidden hints are also at a prompt's end, but are not a prefill.
      const opening = text.startsWith(before) ? before : "";
      const where = `turns[${index}].text is ${quoted(text)}; calls[${number}]`;
      if (grammar !== null && chain === undefined) {
        const cut = opening + written.slice(0, grammar.findCut(written) ?? undefined);
        if (cut !== text && !isForcedAnswer(text, cut, { call, opening }))
          found.push(`${where} says, up to the cut, ${quoted(cut)}.`);
      } else if (
        !(opening + written).includes(text) &&
        !isForcedAnswer(text, opening + written, { call, opening })
      ) {
        // A strategy's own prompts have their own stop strings.
        found.push(`${where} says ${quoted(opening + written)}.`);
      }
    }
    return found;
  },
};

/** The calls that wrote one message: a call without a prompt continues one that ended at its length. */
function segmentsOf(calls: readonly Call[], call: Call): Call[] {
  const before = call.parent === null ? undefined : calls[call.parent];
  const continues = before?.finish === "length" && call.prompt.length === 0;
  return continues ? [...segmentsOf(calls, before), call] : [call];
}

/** Whether a text is that of a call with a prefill that ended with EOS, and one tag more: the end of an answer that was forced. */
function isForcedAnswer(
  text: string,
  said: string,
  { call, opening }: { call: Call; opening: string },
): boolean {
  const isBegun = opening !== "" || call.completion[0]?.owner === "inserted";
  if (!isBegun || call.finish !== "eos" || !text.startsWith(said)) return false;
  return /^<[^<>]+>$/.test(text.slice(said.length));
}

export const shown: LintRule = {
  name: "shown",
  summary:
    "The next prompt contains the results of a turn's tools, at most shortened on the right, alone or with the tags around them.",
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
          `calls[${number}] follows turns[${index}] and shows ${quoted(text)}, but its tools returned: ${quoted(turn.observations[0]?.text ?? "")}.`,
        );
      }
    }
    return found;
  },
};

/** Whether a separate prompt read the results: the main line then continues with other words. */
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
  // A cut may split a character.
  const text = shownText.replace(/\uFFFD+$/, "");
  if (grammar?.renderObservations(observations).startsWith(text) === true && text !== "")
    return true;
  let at = 0;
  for (const { text: whole } of observations) {
    const wanted = whole.trim();
    if (wanted === "") continue;
    const start = text.indexOf(wanted, at);
    if (start < 0)
      return endsWithin(text.slice(at), wanted) || isShortened(text, observations, grammar);
    at = start + wanted.length;
  }
  return true;
}

/** Most characters of a mark behind a text that was cut (`ending` of a budget). */
const ENDING = 32;

function isShortened(
  text: string,
  observations: readonly Observation[],
  grammar: TrajectoryLintReading["grammar"],
): boolean {
  if (grammar === null) return false;
  const MARK = "\u0000";
  let at = 0;
  const shortened = observations.map((each) => {
    if (each.cut !== true) return each;
    const beginning = longestBeginning(each.text.trim(), text.slice(at));
    at = text.indexOf(beginning, at) + beginning.length;
    return { ...each, text: beginning.trimEnd() + MARK };
  });
  let end = 0;
  return grammar
    .renderObservations(shortened)
    .split(MARK)
    .every((piece, i) => {
      const start = text.indexOf(piece, end);
      const isNear = i === 0 ? start === 0 : start >= 0 && start - end <= ENDING;
      end = start + piece.length;
      return isNear;
    });
}

function longestBeginning(of: string, text: string): string {
  let [least, most] = [0, of.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (text.includes(of.slice(0, middle))) least = middle;
    else most = middle - 1;
  }
  return of.slice(0, least);
}

function endsWithin(text: string, wanted: string): boolean {
  const trimmed = text.trimEnd();
  for (let from = Math.max(0, trimmed.length - wanted.length); from < trimmed.length; from++) {
    if (wanted.startsWith(trimmed.slice(from))) return true;
  }
  return false;
}

export const answer: LintRule = {
  name: "answer",
  summary: "The answer equals what the protocol's rule extracts from the messages.",
  find(trajectory, reading) {
    const { grammar } = reading;
    const main = mainLine(trajectory);
    // A vote or a file may give an answer that no message has.
    if (trajectory.turns.length > main.length && main.length === 0) return [];
    if (grammar === null) return null;
    if (trajectory.calls.length === 0) return [];
    const prompt = grammar.readsPrompt ? promptOf(trajectory, reading) : "";
    if (prompt === null) return null;
    const expected =
      answerOfCalls(main) ?? grammar.answerOf({ prompt, messages: main.map(({ text }) => text) });
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
  summary:
    "The end reason fits the last turn, and an error is recorded if one ended the trajectory.",
  find(trajectory) {
    const { end: reason, error, answer: given, calls } = trajectory;
    const found: string[] = [];
    const last = mainLine(trajectory).at(-1);
    const failed = reason === "tool-error" || reason === "model-error";
    if (failed && error === undefined) found.push(`end is ${reason}, but no error is recorded.`);
    if (!failed && reason !== "timeout" && reason !== "cancelled" && error !== undefined)
      found.push(`end is ${reason}, but an error is recorded (${error.code}).`);
    const answers = last?.actions[0]?.tool === "answer";
    if (reason === "answered" && given === null && !answers)
      found.push("end is answered, but there is neither an answer nor a message that gives one.");
    if (["turn-limit", "invalid", "no-answer"].includes(reason) && answers)
      found.push(`end is ${reason}, but the last message is an answer.`);
    if (reason === "invalid" && last !== undefined && !hasProblem(last))
      found.push("end is invalid, but the last message has no problem.");
    if (reason === "token-limit" && calls.at(-1)?.finish !== "length")
      found.push("end is token-limit, but the last message was not cut for its length.");
    return found;
  },
};

function hasProblem({ problems, observations }: Turn): boolean {
  return problems.length > 0 || observations.some(({ problem }) => problem !== undefined);
}
