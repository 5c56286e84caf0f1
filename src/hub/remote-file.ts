import { ExternalError } from "../base/errors.ts";
import { promisedBy } from "../http/promised-content.ts";
import { transfer, withRetries } from "../http/transfer.ts";
import { type HubName, hubNameText } from "./hub-name.ts";
import type { HubSettings } from "./hub-settings.ts";
import { refusal, unreachable } from "./refusal.ts";

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
  const request = { method: "HEAD", url, follow: "endpoint", signal } as const;
  const headers = await withRetries(
    settings,
    { givenUp: unreachable(settings, what), signal },
    () =>
      transfer(settings, request, async (response) => {
        if (response.status >= 400) throw refusal(response, name, settings);
        return Promise.resolve(response.headers);
      }),
  );
  const { size, tag: checksum } = promisedBy(headers);
  if (!/^[\w-]{8,}$/.test(checksum) || size === null) {
    throw new ExternalError(
      "HTTP_BAD_REPLY",
      `${what}: ${settings.endpoint} tells neither checksum nor size of it (ETag, Content-Length). Set HF_ENDPOINT to a hub or a mirror that does.`,
    );
  }
  return { name: file.name, url, size, checksum };
}
