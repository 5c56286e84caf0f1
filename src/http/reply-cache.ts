import { join } from "node:path";
import { errorMessage } from "../base/errors.ts";
import { readJson, sha256, writeJson } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";

/** Replies of a model by their whole request. */
export interface ReplyCache {
  /** @param schema of the reply. @returns null if the request is not cached. */
  get<T>(request: unknown, schema: z.ZodType<T>): Promise<T | null>;
  set(request: unknown, reply: unknown): Promise<void>;
}

/**
 * A cache in a folder, one file per request, each written completely or not at all. A file that cannot be read, or belongs to another
 * request, counts as missing and is written again.
 * @throws {ExternalError} FILE_WRITE_FAILED from `set`.
 */
export function folderCache(folder: string): ReplyCache {
  const placeOf = (text: string): string => {
    const hash = sha256(text);
    return join(folder, hash.slice(0, 2), `${hash.slice(2, 32)}.json`);
  };
  return {
    async get(request, schema) {
      const text = JSON.stringify(request);
      const value = await readJson(placeOf(text)).catch(errorMessage);
      const checked = checkOptions(z.object({ request: z.literal(text), reply: schema }), value);
      return checked.problem === null ? checked.value.reply : null;
    },
    async set(request, reply) {
      const text = JSON.stringify(request);
      await writeJson(placeOf(text), { request: text, reply });
    },
  };
}

export const noCache: ReplyCache = {
  get: () => Promise.resolve(null),
  set: () => Promise.resolve(),
};
