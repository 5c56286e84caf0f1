import { ExternalError, type AgentrlError, ConfigError } from "../base/errors.ts";
import { promisedBy, downloadFile, isAsPromised } from "../http/download-file.ts";
import { transfer, withRetries, type Interruption } from "../http/transfer.ts";
import { type HubName, hubNameText, type HubSettings } from "./hub-cache.ts";

export interface RemoteFile {
  name: string;
  url: URL;
  size: number;
  /** Key in the cache: SHA-256 of a large file, Git's SHA-1 of a small one, or the mirror's ETag. */
  checksum: string;
}

/** Requests a file's size and checksum. @throws as `refusal`; {ExternalError} HUB_UNREACHABLE, HTTP_BAD_REPLY. */
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
  if (!/^[\w-]{8,}$/.test(checksum) || size === null)
    throw new ExternalError(
      "HTTP_BAD_REPLY",
      `${what}: ${settings.endpoint} does not send its checksum and size (ETag, Content-Length). Set HF_ENDPOINT to a hub or mirror that does.`,
    );
  return { name: file.name, url, size, checksum };
}

interface BlobRequest {
  settings: HubSettings;
  name: HubName;
  file: RemoteFile;
  /** Path of the complete file. */
  blob: string;
  /** Bytes of the file so far; may fall when a download restarts. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Downloads one file of a model into the cache with `downloadFile`.
 * @throws {ExternalError} HUB_UNREACHABLE, HUB_CHECKSUM; as `refusal`; disk errors.
 */
export async function downloadBlob(request: BlobRequest): Promise<void> {
  const { settings, name, file, blob, onBytes, signal } = request;
  const what = `${hubNameText(name)}: ${file.name}`;
  await downloadFile({
    settings,
    url: file.url,
    size: file.size,
    path: blob,
    onBytes,
    signal,
    isPromised: (path) => isAsPromised(path, file.checksum),
    problems: {
      unreachable: unreachable(settings, what),
      refused: (response) => refusal(response, name, settings),
      changed: () =>
        new ExternalError(
          "HUB_CHECKSUM",
          `${what}: ${settings.endpoint} sent it twice with the wrong content (expected checksum ${file.checksum}). A proxy or mirror changes files: set HF_ENDPOINT to another one.`,
        ),
    },
  });
}

/**
 * The error for a refused model: HUB_GATED, HUB_NOT_FOUND or HUB_DENIED. The hub gives the reason in a
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
  if (reason === "GatedRepo")
    return new ConfigError(
      "HUB_GATED",
      `${model}: is gated (${tokenState}). Accept its terms at ${endpoint}/${repository}, and set HF_TOKEN to a token of that account.`,
    );
  if (reason === "RevisionNotFound")
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has ${repository}, but no revision "${revision}". Write a branch, tag or commit after @, or no revision.`,
    );
  if (status === 404 || reason === "RepoNotFound")
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has no such model, or it is private and ${token === null ? tokenState : "the account of HF_TOKEN may not see it"}. Check the spelling of organisation and name, or set HF_TOKEN to a token that can read it.`,
    );
  return new ConfigError(
    "HUB_DENIED",
    `${model}: ${endpoint} refuses with status ${status} (${tokenState}). ${token === null ? "Set HF_TOKEN to a token that can read it, and check the name: the hub gives the same answer for unknown names." : "HF_TOKEN is wrong, has expired, or lacks the right to read this model."}`,
  );
}

/** HUB_UNREACHABLE for a model or file (`what`). */
export function unreachable(
  { endpoint }: HubSettings,
  what: string,
): (last: Interruption, attempts: number) => ExternalError {
  return (last, attempts) =>
    new ExternalError(
      "HUB_UNREACHABLE",
      `${what}: ${endpoint} cannot be reached: ${last.message} (${attempts} ${attempts === 1 ? "attempt" : "attempts"}). Partial downloads are kept: run the command again to continue, set HF_ENDPOINT to a mirror, or pass a folder with the model.`,
      { cause: last.cause },
    );
}
