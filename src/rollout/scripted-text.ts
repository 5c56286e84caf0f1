import type { Protocol } from "../env/protocols/protocol.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { Task } from "../trajectory/task.ts";
import type { Call, Turn } from "../trajectory/trajectory.ts";
import { budgetOf } from "../env/budget.ts";
import type { Asked } from "./asked.ts";
import type { Dialogue, DialogueSetting, Interject } from "./dialogue.ts";
import { recordGiven, shownSegments, shownText } from "./endpoint/remote-message.ts";
import type { TextPolicy } from "./policy.ts";
import { emptyTextDraft, splitPrefill, type TextDraft } from "./draft.ts";

/** Facts for a script that writes messages: more than a model sees. */
export interface ScriptPlace {
  task: Task;
  /** Turns of the trajectory so far, drafts and candidates included. */
  turns: readonly Turn[];
  /** The prompt, then each reply, as cut by budgets. */
  shown: readonly string[];
  /** The message so far: the prefill and inserted hints. */
  prefill: string;
  /** Of the dialogue. */
  seed: number;
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** Whether messages end by the protocol; a strategy's own prompts have other stop strings. */
  ownPrompt: boolean;
  /** What a strategy's own prompt asks for, if the strategy says it. */
  asked?: Asked;
  /** Turns in which tools run, by the environment's budget. */
  maxTurns: number;
}

/** State of a scripted dialogue. */
interface Place {
  /** Index of its last call; null before the first. */
  last: number | null;
  shown: readonly string[];
}

/**
 * A policy whose messages come from a function, as text without tokens. They are recorded like a server's.
 *
 * @param write gives what follows `prefill`; what it throws the dialogue throws.
 */
export function scriptedText(write: (place: ScriptPlace) => string): TextPolicy {
  return {
    role: "policy",
    takesPrefill: true,
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
  const begin = (prefill: string): string =>
    write({
      task,
      turns,
      shown: place.shown,
      prefill,
      seed,
      protocol,
      tools,
      ownPrompt: ending !== protocol,
      asked: setting.asked,
      maxTurns: budgetOf(budgets, "trajectory")?.limit ?? Infinity,
    });
  return {
    write(inputs, signal, interject = () => null) {
      return Promise.resolve().then(() => {
        signal.throwIfAborted();
        const { read, prefill } = splitPrefill(inputs);
        place.shown = [...place.shown, ...read.map(shownText)];
        const draft = emptyTextDraft(ending, prefill);
        const isCut = writeMessage(draft, begin, interject);
        const isStopped = ending.stopStrings.some((stop) => draft.whole().endsWith(stop));
        calls.push({
          parent: place.last,
          role: "policy",
          policyVersion: null,
          prompt: read.flatMap(shownSegments),
          completion: draft.segments(),
          // Stop strings of the rollout; any other text ends by itself.
          finish: isCut || isStopped ? "stop" : "eos",
        } satisfies Call);
        place.last = calls.length - 1;
        return { text: draft.text(), call: place.last, put: draft.put() };
      });
    },
    give(inputs, message) {
      place.shown = [...place.shown, ...inputs.map(shownText)];
      return recordGiven(setting, place, inputs, message);
    },
    fork: (branch) => scriptedDialogue(write, { ...setting, ...branch }, place),
    end: () => undefined,
  };
}

/** Writes a message up to its cut, and continues it after each interruption. @returns whether it was cut. */
function writeMessage(
  draft: TextDraft,
  begin: (prefill: string) => string,
  interject: Interject,
): boolean {
  while (!draft.isWhole()) {
    const written = begin(draft.whole());
    const isCut = draft.write(written).length < written.length;
    const put = interject(draft.text(), draft.put());
    if (put === null || !draft.interrupt(put)) return isCut;
  }
  return true;
}
