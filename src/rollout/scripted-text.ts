import type { Script } from "../env/teacher.ts";
import type { Call } from "../trajectory/trajectory.ts";
import { budgetOf } from "../env/budget.ts";
import type { Dialogue, DialogueSetting, Interject } from "./dialogue.ts";
import { recordGiven, shownSegments, shownText } from "./endpoint/remote-message.ts";
import type { TextPolicy } from "./policy.ts";
import { emptyTextDraft, splitPrefill, type TextDraft } from "./draft.ts";

type Place = { last: number | null; shown: readonly string[] };

/** A policy whose messages a function writes (what follows `prefill`), as text without tokens, recorded like a server's. */
export function scriptedText(write: Script): TextPolicy {
  return {
    role: "policy",
    takesPrefill: true,
    open: (setting) => scriptedDialogue(write, setting, { last: null, shown: [] }),
  };
}

function scriptedDialogue(write: Script, setting: DialogueSetting, from: Place): Dialogue {
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
