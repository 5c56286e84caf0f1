import { ExternalError } from "../../base/errors.ts";
import { type DownloadProblems, type Promised, promisedBy } from "../../http/download-file.ts";
import { transfer, withRetries } from "../../http/transfer.ts";
import type { FileAddress } from "./dataset-place.ts";

/**
 * Requests a file's size and tag. A server that does not support HEAD is not asked again: the download
 * itself reveals the size.
 *
 * @param what the dataset and split, for messages.
 * @throws {ExternalError} DATASET_UNREACHABLE; DATASET_REFUSED when the file does not exist or access is denied.
 */
export async function describeRemote(
  what: string,
  { settings, url }: FileAddress,
  signal: AbortSignal | undefined,
): Promise<Promised> {
  const request = { method: "HEAD", url, follow: follows(settings.endpoint, url), signal } as const;
  const problems = downloadProblems(what, { settings, url }, { sha256: undefined, path: "" });
  return withRetries(settings, { givenUp: problems.unreachable.bind(problems), signal }, () =>
    transfer(settings, request, (response) => {
      const { status, headers } = response;
      if (status === 401 || status === 404) throw problems.refused(response);
      if (status >= 400) return Promise.resolve({ size: null, tag: "" });
      const { size, tag } = promisedBy(headers);
      // A generated response has no length, or 0: no dataset is empty.
      return Promise.resolve({ size: size === 0 ? null : size, tag });
    }),
  );
}

/** The hub describes a large file before its redirect; other servers do not. */
function follows(endpoint: string, url: URL): "endpoint" | "anywhere" {
  return url.pathname.includes("/resolve/") && url.href.startsWith(`${endpoint}/datasets/`)
    ? "endpoint"
    : "anywhere";
}

interface Expected {
  sha256: string | undefined;
  path: string;
}

/** The errors of a failed dataset download. */
export function downloadProblems(
  what: string,
  address: FileAddress,
  expected: Expected,
): DownloadProblems {
  const { settings, url } = address;
  const place = `${url.origin}${url.pathname}`;
  return {
    unreachable: (last, attempts) =>
      new ExternalError(
        "DATASET_UNREACHABLE",
        `${what}: ${place} cannot be downloaded: ${last.message} (${attempts} ${attempts === 1 ? "attempt" : "attempts"}). Partial downloads are kept: run the command again to continue. Or try another source (--source) or a mirror (AGENTRL_DATA_URL, HF_ENDPOINT).`,
        { cause: last.cause },
      ),
    refused: ({ status }) =>
      new ExternalError(
        "DATASET_REFUSED",
        `${what}: ${place} answers with status ${status}${status === 404 ? ": the file no longer exists there" : ` (${settings.token === null ? "no HF_TOKEN is set" : "HF_TOKEN is set"})`}. Choose another source of the dataset with --source; \`agentrl data list NAME\` names them.`,
      ),
    changed: () => wrongChecksum(what, address, expected),
  };
}

/** DATASET_CHECKSUM */
export function wrongChecksum(
  what: string,
  { url }: FileAddress,
  { sha256, path }: Expected,
): ExternalError {
  const known =
    sha256 === undefined ? "than its server announces" : `than the known one (sha256 ${sha256})`;
  return new ExternalError(
    "DATASET_CHECKSUM",
    `${what}: ${url.origin}${url.pathname} has a different content ${known}. A proxy or mirror changes it, or a new version was published: choose another source with --source, or inspect the file and, if it is right, delete ${path}.origin.json.`,
  );
}
