import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { ExternalError } from "../base/errors.ts";
import { sha256File } from "../base/files.ts";
import { hubExchange, withRetries } from "./hub-exchange.ts";
import { type HubName, hubNameText } from "./hub-name.ts";
import type { HubSettings } from "./hub-settings.ts";
import { refusal } from "./refusal.ts";

/** A file of a model on the hub. */
export interface RemoteFile {
  name: string;
  url: URL;
  /** Bytes. */
  size: number;
  /** Under which the cache keeps it: SHA-256 of a large file, Git's SHA-1 of a small one, or the mirror's own tag. */
  checksum: string;
}

/** Asks for a file's size and checksum. @throws as `refusal`; {ExternalError} HUB_UNREACHABLE, HTTP_BAD_REPLY. */
export async function remoteFile(
  settings: HubSettings,
  model: { name: HubName; commit: string },
  file: { name: string; signal?: AbortSignal | undefined },
): Promise<RemoteFile> {
  const { name, commit } = model;
  const path = file.name.split("/").map(encodeURIComponent).join("/");
  const url = new URL(`${settings.endpoint}/${name.repository}/resolve/${commit}/${path}`);
  const what = `${hubNameText(name)}: ${file.name}`;
  const { signal } = file;
  const request = { method: "HEAD", url, follow: "hub", signal } as const;
  const headers = await withRetries(settings, { what, signal }, () =>
    hubExchange(settings, request, async (response) => {
      if (response.status >= 400) throw refusal(response, name, settings);
      return Promise.resolve(response.headers);
    }),
  );
  // The hub answers for a large file with a redirect: what is linked is described by headers of its own.
  const tag = headers.get("x-linked-etag") ?? headers.get("etag") ?? "";
  const checksum = tag.replace(/^W\//, "").replaceAll('"', "");
  const size = Number(headers.get("x-linked-size") ?? headers.get("content-length") ?? NaN);
  if (!/^[\w-]{8,}$/.test(checksum) || !Number.isSafeInteger(size)) {
    throw new ExternalError(
      "HTTP_BAD_REPLY",
      `${what}: ${settings.endpoint} tells neither checksum nor size of it (ETag, Content-Length). Set HF_ENDPOINT to a hub or a mirror that does.`,
    );
  }
  return { name: file.name, url, size, checksum };
}

/** Whether a file on disk is the one that was promised, by checksum; null when the hub gave none that says so. */
export async function isAsPromised(
  path: string,
  { checksum }: RemoteFile,
): Promise<boolean | null> {
  if (/^[0-9a-f]{64}$/.test(checksum)) return (await sha256File(path)) === checksum;
  if (/^[0-9a-f]{40}$/.test(checksum)) return (await gitHash(path)) === checksum;
  return null;
}

/** Git's name of a file's content. */
async function gitHash(path: string): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
