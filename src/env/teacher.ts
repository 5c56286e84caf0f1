import { type PartWithOptions, definer } from "../base/define-part.ts";
import { requireReturned } from "../base/registry.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { ShownPassage } from "../trajectory/passages.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import type { Environment } from "./environments/environment.ts";
import type { PlannedMessage, Protocol } from "./protocols/protocol.ts";

/** Facts for a script that writes messages: more than a model sees. */
export interface ScriptPlace {
  task: Task;
  turns: readonly Turn[];
  shown: readonly string[];
  /** The message so far: the prefill and inserted hints. */
  prefill: string;
  seed: number;
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** Whether messages end by the protocol; a strategy's own prompts have other stop strings. */
  ownPrompt: boolean;
  asked?: Asked;
  /** Turns in which tools run, by the environment's budget. */
  maxTurns: number;
}

/** Writes what follows `prefill` in a message. */
export type Script = (place: ScriptPlace) => string;

/** A writer of trajectories without a model, which knows the gold annotations of a task. */
export interface Teacher extends PartWithOptions {
  /**
   * @returns the script that writes its messages; it throws TEACHER_GAVE_UP (one rollout fails) or TEACHER_CANNOT_PLAY (the run stops).
   * @throws {ConfigError} TEACHER_CANNOT_PLAY where it cannot play the environment.
   */
  open(options: unknown, environment: Environment): Script;
}

/** Makes a teacher. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineTeacher = definer<Teacher>()("teacher", {
  functions: {
    open: {
      at: 0,
      returned(script: Script, { what }) {
        requireReturned(what, { script }, { script: "function" });
        return script;
      },
    },
  },
});

/** A question with the answer that was found. */
export type AnsweredQuestion = { question: string; answer: string };

/** What a strategy's prompt asks for, as facts for scripted policies. `write` gives a reply the form that the strategy reads. */
export type Asked =
  | { for: "plan"; write: (questions: readonly string[]) => string }
  /** The next question to look up; an empty message: nothing is missing. */
  | { for: "next-question"; known: readonly AnsweredQuestion[] }
  /** Whether a question must be looked up. */
  | { for: "need"; write: (isNeeded: boolean) => string }
  | { for: "query"; question: string; failed: readonly string[] }
  | { for: "order"; question: string; passages: readonly ShownPassage[] }
  /** The short answer that passages give, or the text that says they do not. */
  | { for: "sub-answer"; question: string; passages: readonly ShownPassage[]; unknown: string }
  | { for: "verdict"; answered: AnsweredQuestion; write: (isSupported: boolean) => string }
  /** A thought with an action; after `thought` the action alone. */
  | { for: "step"; write: (message: PlannedMessage) => string }
  | { for: "answer"; known: readonly AnsweredQuestion[] };
