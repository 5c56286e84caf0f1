import type { Protocol } from "../env/protocols/protocol.ts";
import type { ToolSchema } from "../http/chat.ts";
import type { Task } from "../trajectory/task.ts";
import type { Call, Segment, Turn } from "../trajectory/trajectory.ts";
import { budgetOf } from "../env/budget.ts";
import type { Dialogue, DialogueSetting, Interject, Said } from "./dialogue.ts";
import { shownText } from "./endpoint/remote-message.ts";
import type { TextPolicy } from "./policy.ts";

/** What a script that writes messages may look at: more than a model sees. */
export interface ScriptPlace {
  task: Task;
  /** Those of the trajectory so far, drafts and candidates included. */
  turns: readonly Turn[];
  /** What was shown: the prompt, then each reply, as short as budgets made it. */
  shown: readonly string[];
  /** What stands of the message already, forced on it or put into it. */
  opening: string;
  /** Of the dialogue. */
  seed: number;
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** Whether messages end as the protocol says; those of a strategy's own prompts end otherwise. */
  ownPrompt: boolean;
  /** Turns in which tools run, by the environment's budget. */
  maxTurns: number;
}

/** Where a scripted dialogue stands. */
interface Place {
  /** Index of its last call; null before the first. */
  last: number | null;
  shown: readonly string[];
}

/**
 * A policy that writes what a function says, as text: no tokens, no model. Its messages are recorded as those of a server.
 *
 * @param write gives what follows `opening`; what it throws the dialogue throws.
 */
export function scriptedText(write: (place: ScriptPlace) => string): TextPolicy {
  return {
    role: "policy",
    takesPrefix: true,
    open: (setting) => scriptedDialogue(write, setting, { last: null, shown: [] }),
  };
}

function scriptedDialogue(
  write: (place: ScriptPlace) => string,
  setting: DialogueSetting,
  from: Place,
): Dialogue {
  const place = { ...from };
  const { calls, ending, protocol, budgets, task, turns, seed, tools } = setting;
  const begin = (opening: string): string =>
    write({
      ...{ task, turns, shown: place.shown, opening, seed, protocol, tools },
      ownPrompt: ending !== protocol,
      maxTurns: budgetOf(budgets, "trajectory")?.limit ?? Infinity,
    });
  return {
    write(said, signal, interject = () => null) {
      return Promise.resolve().then(() => {
        signal.throwIfAborted();
        place.shown = [...place.shown, ...textsOf(said, (owner) => owner !== "inserted")];
        const opening = textsOf(said, (owner) => owner === "inserted").join("");
        const { segments, text, isCut } = writeMessage({ begin, opening, ending, interject });
        calls.push({
          ...{ parent: place.last, role: "policy", policyVersion: null },
          prompt: said.map((each) => segment(each.owner, shownText(each))),
          ...{ completion: segments, finish: isCut ? "stop" : "eos" },
        } satisfies Call);
        place.last = calls.length - 1;
        return { text, call: place.last };
      });
    },
    fork: ({ id, seed }) => scriptedDialogue(write, { ...setting, id, seed }, place),
    end: () => undefined,
  };
}

interface Writing {
  begin: (opening: string) => string;
  opening: string;
  ending: DialogueSetting["ending"];
  interject: Interject;
}

/** A message up to its cut, written on after each interruption. */
function writeMessage({ begin, opening, ending, interject }: Writing) {
  let segments: Segment[] = [];
  let text = "";
  for (;;) {
    const before = text;
    const whole = before + begin(opening + before);
    text = whole.slice(0, Math.max(before.length, ending.findCut(whole) ?? Infinity));
    segments.push(segment("policy", text.slice(before.length)));
    const put = interject(text);
    if (put === null) return { segments, text, isCut: text.length < whole.length };
    segments = [...upTo(segments, put.keep), segment("inserted", put.text)];
    text = text.slice(0, put.keep) + put.text;
  }
}

function upTo(segments: readonly Segment[], characters: number): Segment[] {
  let left = characters;
  return segments.flatMap(({ owner, text = "" }) => {
    const kept = text.slice(0, left);
    left -= kept.length;
    return kept === "" ? [] : [segment(owner, kept)];
  });
}

function segment(owner: Segment["owner"], text: string): Segment {
  return { owner, ids: [], logprobs: null, text };
}

function textsOf(said: readonly Said[], isWanted: (owner: Said["owner"]) => boolean): string[] {
  return said.filter(({ owner }) => isWanted(owner)).map(shownText);
}
