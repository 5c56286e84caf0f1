import { ExternalError, type AgentrlError, ConfigError } from "../base/errors.ts";
import { promisedBy, downloadFile, isAsPromised } from "../http/download-file.ts";
import { transfer, withRetries, type Interruption } from "../http/transfer.ts";
import { type HubName, hubNameText, type HubSettings } from "./hub-cache.ts";

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

/** One file of a model to be downloaded. */
interface BlobRequest {
  settings: HubSettings;
  name: HubName;
  file: RemoteFile;
  /** Where the whole file goes. */
  blob: string;
  /** Bytes of the file that are here; may fall when a download begins anew. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Downloads one file of a model into the cache, as `downloadFile`.
 * @throws {ExternalError} HUB_UNREACHABLE, HUB_CHECKSUM; as `refusal`; and as the disk does.
 */
export async function downloadBlob(request: BlobRequest): Promise<void> {
  const { settings, name, file, blob, onBytes, signal } = request;
  const what = `${hubNameText(name)}: ${file.name}`;
  await downloadFile({
    ...{ settings, url: file.url, size: file.size, path: blob, onBytes, signal },
    isPromised: (path) => isAsPromised(path, file.checksum),
    problems: {
      unreachable: unreachable(settings, what),
      refused: (response) => refusal(response, name, settings),
      changed: () =>
        new ExternalError(
          "HUB_CHECKSUM",
          `${what}: came from ${settings.endpoint} twice with another content than promised (checksum ${file.checksum}). A proxy or mirror in between changes files: set HF_ENDPOINT to another one.`,
        ),
    },
  });
}

/**
 * What an answer that refuses a model means, and what to do: HUB_GATED, HUB_NOT_FOUND or HUB_DENIED. The hub names the reason in a
 * header; mirrors may not.
 */
export function refusal(
  { status, headers }: Response,
  name: HubName,
  settings: HubSettings,
): AgentrlError {
  const { endpoint, token } = settings;
  const { repository, revision } = name;
  const model = hubNameText(name);
  const reason = headers.get("x-error-code");
  const tokenState = token === null ? "no HF_TOKEN is set" : "HF_TOKEN is set";
  if (reason === "GatedRepo") {
    return new ConfigError(
      "HUB_GATED",
      `${model}: is gated (${tokenState}). Accept its terms at ${endpoint}/${repository}, and set HF_TOKEN to a token of the account that did.`,
    );
  }
  if (reason === "RevisionNotFound") {
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has ${repository}, but no revision "${revision}". Give a branch, tag or commit after @, or none.`,
    );
  }
  if (status === 404 || reason === "RepoNotFound") {
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has no such model, or it is private and ${token === null ? tokenState : "the account of HF_TOKEN may not see it"}. Check the spelling of organisation and name, or set HF_TOKEN to a token that can read it.`,
    );
  }
  return new ConfigError(
    "HUB_DENIED",
    `${model}: ${endpoint} refuses with status ${status} (${tokenState}). ${token === null ? "Set HF_TOKEN to a token that can read it; the hub answers so for names that it does not have, too." : "HF_TOKEN is wrong, has expired, or lacks the right to read this model."}`,
  );
}

/** What a hub that does not answer means: HUB_UNREACHABLE. `what` is the model or file. */
export function unreachable(
  { endpoint }: HubSettings,
  what: string,
): (last: Interruption, attempts: number) => ExternalError {
  return (last, attempts) =>
    new ExternalError(
      "HUB_UNREACHABLE",
      `${what}: ${endpoint} cannot be reached: ${last.message} (${attempts} ${attempts === 1 ? "attempt" : "attempts"}). What has come is kept: run again to go on, set HF_ENDPOINT to a mirror, or give a folder that holds the model.`,
      { cause: last.cause },
    );
}
