import { chatBody, chatReply, keptChatReply, replySchema } from "./chat-wire.ts";
import { chatStream } from "./chat-stream.ts";
import type { Caller } from "./caller.ts";
import type { HttpEnvironment } from "./endpoint.ts";
import { type Meter } from "./meter.ts";
import { modelServer } from "./model-server.ts";
import type { ChatReply, ChatRequest } from "./chat-messages.ts";
import type { ChatSettings } from "./chat-settings.ts";

export interface ChatClient {
  /**
   * Requests one completion. A retry may be billed twice, but sampling has no other effect, so it counts as idempotent.
   * A reply without text and without calls is not an error here: `finishReason` gives the reason.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT, HTTP_STATUS, HTTP_CONTEXT_LENGTH, HTTP_BAD_REPLY.
   */
  complete(request: ChatRequest): Promise<ChatReply>;
  /** Counts of all requests so far. */
  readonly meter: Meter;
}

/**
 * A client of `POST /chat/completions`.
 *
 * @param caller for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING as `modelKey`.
 */
export function chatClient(
  caller: string | Caller,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): ChatClient {
  const server = modelServer(caller, settings, environment);
  return {
    meter: server.meter,
    complete(request) {
      const isStreamed = request.stream ?? settings.stream ?? false;
      return server.ask({
        path: "/chat/completions",
        body: chatBody(settings, request, isStreamed),
        maxTokens: request.maxTokens,
        schema: replySchema,
        whole: chatReply,
        kept: keptChatReply,
        streamed: isStreamed ? chatStream : null,
        signal: request.signal,
      });
    },
  };
}
