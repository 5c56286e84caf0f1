import type { Protocol } from "../env/protocols/protocol.ts";
import type { BudgetNow } from "../env/budget.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { PrefixMessage, Task } from "../trajectory/task.ts";
import type { Call, Observation, Turn } from "../trajectory/trajectory.ts";
import type { Sampling } from "./sampling.ts";

/** Input of a policy before its next message. */
export interface Said {
  /**
   * template: a prompt, at the start. environment: a reply. inserted: a hint, the prefill of the policy's next message. If the server
   * cannot prefill, the hint is sent as an instruction.
   */
  owner: "template" | "environment" | "inserted";
  text: string;
  /** Texts shown right after it and recorded as inserted: training on the trajectory does not see them. */
  withheld?: readonly string[];
  /** Most tokens of it that are shown. */
  maxTokens?: number;
  /** The parts of `text`, one per tool call: for servers that take each result separately. */
  observations?: readonly Observation[];
}

/** A policy's message. */
export interface Message {
  /** The text up to the cut, including inserted hints, without EOS and without the prefill. */
  text: string;
  /** Index in the trajectory's calls. */
  call: number;
  /** Inserted texts, in order. */
  put: readonly PutText[];
}

/** A text to insert into a message. */
export interface Interjection {
  /** Name of the hint's part. */
  name: string;
  /** Characters of the message that stay; the rest is removed. */
  keep: number;
  /** Inserted text; the policy continues after it. */
  text: string;
}

/** A text inserted into a message. */
export interface PutText {
  name: string;
  text: string;
  /** Characters of the message before it. */
  at: number;
}

/**
 * Called when a message has ended, and again after each continuation: returns the text to insert, or null to keep the message. It must
 * eventually return null, and never remove inserted text.
 * @param message its whole text up to the cut, with inserted text.
 * @param put the inserted texts.
 */
export type Interject = (message: string, put: readonly PutText[]) => Interjection | null;

/** How a dialogue's messages end. The cut is searched in the whole message, including the prefill. */
export type MessageEnding = Pick<Protocol, "stopStrings" | "findCut">;

/** Settings of a dialogue. */
export interface DialogueSetting {
  /** Unique among the open dialogues of a policy. */
  id: string;
  seed: number;
  sampling: Sampling;
  budgets: readonly BudgetNow[];
  ending: MessageEnding;
  /** Tool schemas and their grammar, for servers with a field for them. */
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** The trajectory's: calls are added to them. */
  calls: Call[];
  /** For scripted policies, which may read more than a model sees. */
  task: Task;
  turns: readonly Turn[];
  /** Called with a server's time to first token of each message, in milliseconds, if known. */
  onFirstToken?: (ms: number) => void;
}

/** What a fork of a dialogue has of its own. */
export type DialogueBranch = Pick<DialogueSetting, "id" | "seed"> &
  Partial<Pick<DialogueSetting, "calls" | "turns">>;

/** One conversation with a policy: a trajectory has one, or several with new prompts. */
export interface Dialogue {
  /**
   * Sends the policy the input since its last message and requests the next message, which is recorded as a call.
   * @param interject may insert text into the message while it is written, if the policy supports prefills. Text that leaves no room for a
   * further token is not inserted, and the message stays.
   * @returns null when the context is full.
   * @throws {RolloutError} when a remote policy gives no message; the code has the reason.
   * @throws the signal's reason when it aborts.
   */
  write(said: readonly Said[], signal: AbortSignal, interject?: Interject): Promise<Message | null>;
  /**
   * Shows what was said and records a message that is given instead of asked for: its tokens have no log-probabilities.
   * @returns index of its call.
   */
  give(said: readonly Said[], message: PrefixMessage): number;
  /**
   * The same conversation up to here, independent from here on, under another id and seed.
   * @param branch.calls where its calls are recorded, when it is a trajectory of its own: a copy of the calls so far. Here when absent.
   */
  fork(branch: DialogueBranch): Dialogue;
  /**
   * Puts another text in place of the last message. Its tokens were not sampled, so they have no log-probabilities and the trainer computes
   * them. Absent where the tokens are a server's.
   */
  rewrite?(text: string): void;
  /** Releases the engine's state of the conversation for now. It can still be forked. */
  end(): void;
}
