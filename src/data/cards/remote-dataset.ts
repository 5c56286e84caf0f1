import { ExternalError } from "../../base/errors.ts";
import { type DownloadProblems, type Promised, promisedBy } from "../../http/download-file.ts";
import { transfer, withRetries } from "../../http/transfer.ts";
import type { FileAddress } from "./dataset-place.ts";

/**
 * Asks for a file's size and tag. Servers that do not answer that question, or not truly, are not asked twice: the download
 * itself tells.
 *
 * @param what the dataset and split, for messages.
 * @throws {ExternalError} DATASET_UNREACHABLE; DATASET_REFUSED when there is no such file or it may not be had.
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
      // What makes its answer as it goes tells no length, or 0: no dataset is empty.
      return Promise.resolve({ size: size === 0 ? null : size, tag });
    }),
  );
}

/** The hub describes a large file itself, before it redirects to where it lies; other servers do not. */
function follows(endpoint: string, url: URL): "endpoint" | "anywhere" {
  return url.pathname.includes("/resolve/") && url.href.startsWith(`${endpoint}/datasets/`)
    ? "endpoint"
    : "anywhere";
}

interface Expected {
  sha256: string | undefined;
  path: string;
}

/** What the failures of a dataset's download are called. */
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
        `${what}: ${place} cannot be had: ${last.message} (${attempts} ${attempts === 1 ? "attempt" : "attempts"}). What has come is kept: run again to go on. Another source (--source), AGENTRL_DATA_URL or HF_ENDPOINT (a mirror) may do.`,
        { cause: last.cause },
      ),
    refused: ({ status }) =>
      new ExternalError(
        "DATASET_REFUSED",
        `${what}: ${place} answers with status ${status}${status === 404 ? ": it is there no longer" : ` (${settings.token === null ? "no HF_TOKEN is set" : "HF_TOKEN is set"})`}. Take another source of the dataset with --source; \`agentrl data list NAME\` names them.`,
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
    sha256 === undefined
      ? "than its server promises"
      : `than the one that is known (sha256 ${sha256})`;
  return new ExternalError(
    "DATASET_CHECKSUM",
    `${what}: ${url.origin}${url.pathname} gives another content ${known}. A proxy or mirror changes it, or it was published anew: take another source with --source, or look at the file yourself and, if it is right, delete ${path}.origin.json.`,
  );
}
