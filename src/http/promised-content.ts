import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { sha256File } from "../base/files.ts";

/** What a server's headers promise of a file. */
export interface Promised {
  /** Bytes; null where they are not told. */
  size: number | null;
  /** SHA-256 of a large file of the hub, Git's SHA-1 of a small one, or a server's own tag; empty where there is none. */
  tag: string;
}

/** Reads size and tag; the hub answers for a large file with a redirect, and describes what is linked by headers of its own. */
export function promisedBy(headers: Headers): Promised {
  const tag = headers.get("x-linked-etag") ?? headers.get("etag") ?? "";
  const size = Number(headers.get("x-linked-size") ?? headers.get("content-length") ?? NaN);
  return {
    size: Number.isSafeInteger(size) ? size : null,
    tag: tag.replace(/^W\//, "").replaceAll('"', ""),
  };
}

/** Whether a file on disk is the one that was promised, by its checksum; null when the tag is none that says so. */
export async function isAsPromised(path: string, tag: string): Promise<boolean | null> {
  if (/^[0-9a-f]{64}$/.test(tag)) return (await sha256File(path)) === tag;
  if (/^[0-9a-f]{40}$/.test(tag)) return (await gitHash(path)) === tag;
  return null;
}

/** Git's name of a file's content. */
async function gitHash(path: string): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
