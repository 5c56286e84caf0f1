import type { BudgetNow } from "../env/budget.ts";
import type { Protocol } from "../env/protocols/protocol.ts";
import type { Asked } from "../env/teacher.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { PrefixMessage, Task } from "../trajectory/task.ts";
import type { Call, Observation, Turn } from "../trajectory/trajectory.ts";
import type { Sampling } from "./sampling.ts";

/** An input of a policy before its next message. */
export interface Input {
  /** template: the first prompt. environment: a reply. inserted: a hint as prefill; an instruction where the server cannot prefill. */
  owner: "template" | "environment" | "inserted";
  text: string;
  /** The tokens of `text` where they are known already. */
  ids?: readonly number[] | undefined;
  /** Texts that the policy reads right after it. They are recorded as inserted, and training leaves them out. */
  withheld?: readonly string[];
  maxTokens?: number;
  /** The results behind `text`, one per tool call: some servers take each result as a message. */
  observations?: readonly Observation[];
}

/** A message of a policy. */
export interface Message {
  /** Text up to the stop point, with inserted hints, without EOS and without the prefill. */
  text: string;
  call: number;
  put: readonly PutText[];
  /** It ended at the length of a part: the same message goes on in a call without a prompt. */
  isUnfinished?: boolean;
}

/** A part of a message: a call of its own. */
export interface MessagePart {
  /** The message before this part, with its prefill. */
  text: string;
  /** Tokens that the policy wrote of it in earlier parts. */
  tokens: number;
  /** Most tokens of this part; Infinity where it is the last. */
  most: number;
}

/** A hint to insert into a message. */
export interface Interjection {
  name: string;
  /** Characters of the message to keep; the rest is removed. */
  keep: number;
  text: string;
}

/** A hint that was inserted into a message. */
export type PutText = { name: string; text: string; at: number };

/**
 * Called when a message has ended, and after each continuation: the next hint to insert, or null, at some time, to accept the message.
 * @param message its text up to the cut, with the inserted hints `put`, none of which it may remove.
 */
export type Interject = (message: string, put: readonly PutText[]) => Interjection | null;

/** How a dialogue's messages end. `findCut` reads the whole message, with its prefill. */
export type MessageEnding = Pick<Protocol, "stopStrings" | "findCut" | "resumes">;

/** Stop strings for a server, which can't go on behind one where the message doesn't end. */
export function sentStops({ stopStrings, resumes = false }: MessageEnding): readonly string[] {
  return resumes ? [] : stopStrings;
}

/** Settings of a dialogue. */
export interface DialogueSetting {
  id: string;
  seed: number;
  sampling: Sampling;
  budgets: readonly BudgetNow[];
  ending: MessageEnding;
  protocol: Protocol;
  tools: readonly ToolSchema[];
  calls: Call[];
  task: Task;
  turns: readonly Turn[];
  asked?: Asked;
  onFirstToken?: (ms: number) => void;
}

/** Settings that a fork of a dialogue changes. */
export type DialogueBranch = Pick<DialogueSetting, "id" | "seed"> &
  Partial<Pick<DialogueSetting, "calls" | "turns">>;

/** One conversation with a policy. A trajectory has one, or several if its strategy builds new prompts. */
export interface Dialogue {
  /**
   * Sends the new inputs, asks the policy for its next message and records it; null when the context is full.
   * @param interject may insert hints, for policies with prefill; one that does not fit with one more token is left out.
   * @param part for policies whose tokens are here: writes this part of a message alone.
   * @throws {RolloutError} when a remote policy gives no message. @throws the signal's reason when it aborts.
   */
  write(
    inputs: readonly Input[],
    signal: AbortSignal,
    interject?: Interject,
    part?: MessagePart,
  ): Promise<Message | null>;
  /** Sends the inputs and records a given message, without log-probabilities. @returns index of its call. */
  give(inputs: readonly Input[], message: PrefixMessage): number;
  /** An independent copy under another id and seed. @param branch.calls a copy of the calls, if the fork is a trajectory of its own. */
  fork(branch: DialogueBranch): Dialogue;
  /** Replaces the last message's text, which then has no log-probabilities. Absent where the tokens are a server's. */
  rewrite?(text: string): void;
  /** Frees the engine's cache of this conversation. It can still be forked or continued, at the cost of a recompute. */
  end(): void;
}
