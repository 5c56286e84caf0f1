/** A tool's call, as the server wrote it. */
export interface ToolCall {
  id: string;
  name: string;
  /** Meant to be JSON; not parsed, so that what is not can be answered as a tool's failure. */
  arguments: string;
}

/** A tool, as it is offered to a model; its parameters are a JSON Schema. */
export interface ToolSchema {
  type: "function";
  function: { name: string; description: string; parameters: Readonly<Record<string, unknown>> };
}

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  /** Null: an assistant's message that only calls tools. */
  content: string | null;
  tool_calls?: readonly ToolCall[];
  /** The call that a tool's message answers. */
  tool_call_id?: string;
  name?: string;
}

/** Which tools may be called: none, as the model likes, at least one, or this one. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

/** How one completion is drawn. What is absent is left to the server, whose generation_config may set it. */
export interface DrawRequest {
  temperature?: number;
  topP?: number;
  /** Tokens of the completion at most; servers of plain completions that are not told write 16. */
  maxTokens?: number;
  stop?: readonly string[];
  seed?: number;
  /** Asks for the log-probability of each token. */
  logprobs?: boolean;
  /** Wins over the settings. */
  stream?: boolean;
  /** Further keys of the body, as the server knows them; they win over the others. */
  extra?: Readonly<Record<string, unknown>>;
  signal?: AbortSignal | undefined;
}

/** One request for one message of a chat. */
export interface ChatRequest extends DrawRequest {
  messages: readonly ChatMessage[];
  tools?: readonly ToolSchema[];
  toolChoice?: ToolChoice;
}

/** Tokens of one request, as the server counts them. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
}

/** A token of a completion, as the server tells it. */
export interface TokenLogprob {
  token: string;
  /** Nats. */
  logprob: number;
}

/** How long a server took; waits for a free place and attempts that failed are not counted. */
export interface ReplyTimes {
  /** From sending to the first piece of text, thought or call, in milliseconds; null where the reply came whole. */
  firstTokenMs: number | null;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

export interface ChatReply extends ReplyTimes {
  /** Empty where the server gives null. */
  text: string;
  /** What a reasoning model thought, where the server tells it apart from the text. */
  reasoning?: string;
  /** In the order of the server; empty where none is called. */
  toolCalls: ToolCall[];
  /** `stop`, `length`, `tool_calls`, `content_filter`, …; null where the server does not say. */
  finishReason: string | null;
  /** Null where the server does not count. */
  usage: TokenUsage | null;
  /** Where they were asked for and given. */
  logprobs?: TokenLogprob[];
}
