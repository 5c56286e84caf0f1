import type { Protocol } from "../env/protocols/protocol.ts";
import type { BudgetNow } from "../env/budget.ts";
import type { ToolSchema } from "../http/chat-messages.ts";
import type { PrefixMessage, Task } from "../trajectory/task.ts";
import type { Call, Observation, Turn } from "../trajectory/trajectory.ts";
import type { Sampling } from "./sampling.ts";

/** Something that a policy reads before it writes its next message. */
export interface Said {
  /**
   * template: a prompt, at the start. environment: a reply. inserted: a hint, which is the beginning of the policy's own next message;
   * a policy whose messages cannot be begun for it is told it.
   */
  owner: "template" | "environment" | "inserted";
  text: string;
  /** Texts shown right after it and recorded as inserted: what whoever learns from the trajectory does not see. */
  withheld?: readonly string[];
  /** Tokens of it that are shown at most. */
  maxTokens?: number;
  /** What `text` was made of, one per call of a tool: for servers that take each result by itself. */
  observations?: readonly Observation[];
}

/** What a policy wrote. */
export interface Message {
  /** Up to the cut, with what was put into it; without an end token and without what it was made to begin with. */
  text: string;
  /** Index in the trajectory's calls. */
  call: number;
  /** What was put into it, in order. */
  put: readonly PutText[];
}

/** Something to be put into a message. */
export interface Interjection {
  /** Of the hint's part. */
  name: string;
  /** Characters of the message that stay; what stands after them is taken back. */
  keep: number;
  /** Put there; the policy writes on after it. */
  text: string;
}

/** Something that was put into a message. */
export interface PutText {
  name: string;
  text: string;
  /** Characters of the message before it. */
  at: number;
}

/**
 * Looks at a message when it has ended, and again each time the policy has written on: what is to be put into it, null when it may
 * stay as it is. It must come to an end, and take back nothing that was put there.
 * @param message its whole text up to the cut, with what was put into it.
 * @param put what that was.
 */
export type Interject = (message: string, put: readonly PutText[]) => Interjection | null;

/** How a dialogue's messages end. The cut is looked for in the whole message, with what it was made to begin with. */
export type MessageEnding = Pick<Protocol, "stopStrings" | "findCut">;

/** What a dialogue is opened with. */
export interface DialogueSetting {
  /** Unique among the open dialogues of a policy. */
  id: string;
  seed: number;
  sampling: Sampling;
  budgets: readonly BudgetNow[];
  ending: MessageEnding;
  /** How calls of tools and their grammar are told to servers that have a field for them. */
  protocol: Protocol;
  tools: readonly ToolSchema[];
  /** The trajectory's: calls are added to them. */
  calls: Call[];
  /** For scripted policies, which may look at more than a model sees. */
  task: Task;
  turns: readonly Turn[];
  /** Told of how long a server took to begin each message, in milliseconds, where that is known. */
  onFirstToken?: (ms: number) => void;
}

/** What a fork of a dialogue has of its own. */
export type DialogueBranch = Pick<DialogueSetting, "id" | "seed"> &
  Partial<Pick<DialogueSetting, "calls" | "turns">>;

/** One conversation with a policy: a trajectory has one, or several where prompts are built anew. */
export interface Dialogue {
  /**
   * Shows the policy what was said since its last message and asks for the next, which is recorded as a call.
   * @param interject may put text into the message while it is written; only where the policy takes prefixes. What finds no room, with
   *   a token to write on, is not put there, and the message stays.
   * @returns null when the context is full.
   * @throws {RolloutError} when a remote policy gives no message: its code says why.
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
  /** It will not be continued for now: what an engine keeps for it makes room. Forks of it can still be made. */
  end(): void;
}
