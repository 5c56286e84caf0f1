/** A tool call as the server sent it. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON text, not parsed here, so that the tool can report invalid JSON to the model. */
  arguments: string;
}

/** A tool as offered to a model; its parameters are a JSON Schema. */
export interface ToolSchema {
  type: "function";
  function: { name: string; description: string; parameters: Readonly<Record<string, unknown>> };
}

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  /** Null: an assistant message with tool calls only. */
  content: string | null;
  tool_calls?: readonly ToolCall[];
  /** The call that a tool message answers. */
  tool_call_id?: string;
  name?: string;
}

/** Which tools the model may call: none, any, at least one, or this one. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

/** Sampling options of one completion. The server decides absent ones, for example by its generation_config. */
export interface DrawRequest {
  temperature?: number;
  topP?: number;
  /** Limit of the completion; without it, servers of plain completions write 16 tokens. */
  maxTokens?: number;
  stop?: readonly string[];
  seed?: number;
  /** Requests the log-probability of each token. */
  logprobs?: boolean;
  /** Overrides the settings. */
  stream?: boolean;
  /** Server-specific keys of the body; they override the others. */
  extra?: Readonly<Record<string, unknown>>;
  signal?: AbortSignal | undefined;
}

/** One request for a chat message. */
export interface ChatRequest extends DrawRequest {
  messages: readonly ChatMessage[];
  tools?: readonly ToolSchema[];
  toolChoice?: ToolChoice;
}

/** Token counts of one request, from the server. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
}

/** A token of a completion and its log-probability. */
export interface TokenLogprob {
  token: string;
  /** Nats. */
  logprob: number;
}

/** Server times, without failed attempts and waits for a free slot. */
export interface ReplyTimes {
  /** From sending to the first piece of text, reasoning or call, in milliseconds; null when not streamed. */
  firstTokenMs: number | null;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

export interface ChatReply extends ReplyTimes {
  /** Empty when the server sends null. */
  text: string;
  /** The reasoning text, when the server separates it. */
  reasoning?: string;
  /** In the server's order. */
  toolCalls: ToolCall[];
  /** `stop`, `length`, `tool_calls`, `content_filter`, …; null when the server does not send it. */
  finishReason: string | null;
  /** Null when the server does not count. */
  usage: TokenUsage | null;
  /** Only if requested and sent. */
  logprobs?: TokenLogprob[];
}
