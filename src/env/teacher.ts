import { definer } from "../base/define-part.ts";
import { requireReturned } from "../base/part-members.ts";
import type { PartWithOptions } from "../base/part-schema.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import type { Asked } from "./asked.ts";
import type { Environment } from "./environments/environment.ts";
import type { Protocol } from "./protocols/protocol.ts";

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

/** Writes what follows `prefill` in a message. */
export type Script = (place: ScriptPlace) => string;

/** A writer of trajectories without a model, which knows the gold annotations of a task. */
export interface Teacher extends PartWithOptions {
  /**
   * @returns the script that writes its messages. A rollout fails with what the script throws: TEACHER_GAVE_UP (RolloutError) where it does
   *   not know how to go on, TEACHER_CANNOT_PLAY (ConfigError, which stops the run) where it cannot play the strategy.
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
