import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { readJson, sha256, writeJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { ChatReply } from "../../http/chat-messages.ts";

/** What of a reply a verdict is read from. */
export type JudgeReply = Pick<ChatReply, "text" | "finishReason" | "usage">;

/** Replies by the whole request that they answer. */
export interface ReplyCache {
  /** null when it was never asked. */
  get(request: unknown): Promise<JudgeReply | null>;
  set(request: unknown, reply: JudgeReply): Promise<void>;
}

const entrySchema = z.object({
  request: z.string(),
  reply: z.object({
    text: z.string(),
    finishReason: z.string().nullable(),
    usage: z.object({ promptTokens: z.number(), completionTokens: z.number() }).nullable(),
  }),
});

/**
 * A cache in a folder, one file a request, each written whole or not at all. A file that cannot be read, or that is of another
 * request, counts as missing and is written again.
 * @throws {ExternalError} FILE_WRITE_FAILED from `set`.
 */
export function folderCache(folder: string): ReplyCache {
  const placeOf = (text: string): string => {
    const hash = sha256(text);
    return join(folder, hash.slice(0, 2), `${hash.slice(2, 32)}.json`);
  };
  return {
    async get(request) {
      const text = JSON.stringify(request);
      const value = await readJson(placeOf(text)).catch(errorMessage);
      const checked = checkOptions(entrySchema, value);
      if (checked.problem !== null || checked.value.request !== text) return null;
      return checked.value.reply;
    },
    async set(request, reply) {
      const text = JSON.stringify(request);
      await writeJson(placeOf(text), { request: text, reply });
    },
  };
}

/** A cache that keeps nothing. */
export const noCache: ReplyCache = {
  get: () => Promise.resolve(null),
  set: () => Promise.resolve(),
};
