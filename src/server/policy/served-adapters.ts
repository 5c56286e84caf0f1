import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import { AgentrlError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { checkedBody, ServedError } from "../../rollout/served/served-error.ts";
import type { TokenPolicy } from "../../rollout/policy.ts";

/** How adapters over the served policy are opened. */
export interface AdapterSource {
  /** Folder that adapters are loaded from; a path outside is refused. */
  root: string;
  /** Most adapters at once. */
  most: number;
  open: (folder: string) => Promise<{ policy: TokenPolicy; close: () => Promise<void> }>;
}

/** Adapters (LoRA) that clients load and unload while the server runs, with vLLM's two requests. */
export interface ServedAdapters<T> {
  /** @returns null where no adapter has the name. */
  named(name: string): T | null;
  readonly names: readonly string[];
  /** @throws {ServedError} 400, 404 */
  load(body: unknown): Promise<string>;
  /** @throws {ServedError} 404 */
  unload(body: unknown): Promise<string>;
  close(): Promise<void>;
}

const name = z.string().min(1).max(255);
const loadBody = z.looseObject({ lora_name: name, lora_path: z.string().min(1) });
const unloadBody = z.looseObject({ lora_name: name });

/** @param base name of the served policy, which no adapter may have. @param serve what requests for an adapter need. */
export function servedAdapters<T>(
  { root, most, open }: AdapterSource,
  base: string,
  serve: (name: string, policy: TokenPolicy) => T,
): ServedAdapters<T> {
  const known = new Map<string, { serves: T; close: () => Promise<void> }>();
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: opening takes memory. */
  const inTurn = <R>(work: () => Promise<R>): Promise<R> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    named: (asked) => known.get(asked)?.serves ?? null,
    get names() {
      return [...known.keys()];
    },
    load: (body) =>
      inTurn(async () => {
        const { lora_name: own, lora_path: path } = checkedBody(loadBody, body);
        if (own === base || known.has(own)) {
          const message = `The adapter ${JSON.stringify(own)} has already been loaded, or is the name of the policy.`;
          throw new ServedError(400, message, { code: "invalid_value", param: "lora_name" });
        }
        if (known.size >= most) {
          throw new ServedError(400, `${most} adapters are loaded, as many as --max-adapters allows. Unload one.`); // prettier-ignore
        }
        const folder = await inside(root, path);
        const { policy, close } = await open(folder).catch((error: unknown) => {
          throw error instanceof AgentrlError ? new ServedError(400, error.message) : error;
        });
        known.set(own, { serves: serve(own, policy), close });
        return `Success: adapter '${own}' added.`;
      }),
    unload: (body) =>
      inTurn(async () => {
        const { lora_name: own } = checkedBody(unloadBody, body);
        const found = known.get(own);
        if (found === undefined) throw new ServedError(404, `There is no adapter ${JSON.stringify(own)}.`); // prettier-ignore
        known.delete(own);
        await found.close();
        return `Success: adapter '${own}' removed.`;
      }),
    async close() {
      await last;
      for (const { close } of known.values()) await close();
    },
  };
}

/** @throws {ServedError} 404 for a path that does not exist or leads out of the root. */
async function inside(root: string, path: string): Promise<string> {
  const [top, folder] = await Promise.all([root, path].map((each) => realpath(each).catch(() => null)));
  if (top != null && folder?.startsWith(top + sep) === true) return folder;
  throw new ServedError(404, `lora_path: no such folder in --adapters: ${JSON.stringify(path)}.`, {
    param: "lora_path",
  });
} // prettier-ignore
