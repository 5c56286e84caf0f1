import { formatBytes } from "../../base/format.ts";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ConfigError, errorMessage, ExternalError } from "../../base/errors.ts";
import { exists, freeDiskBytes, makeFolder, sha256, sha256File, sizeOf } from "../../base/files.ts";
import { isDiskError, type TransferSettings } from "../../http/transfer.ts";
import { downloadFile, isAsPromised, type Promised } from "../../http/download-file.ts";
import { extractMember } from "./extract-member.ts";
import { type Card, type CardFile, type NamedSource, sourceOf, splitOf } from "./card.ts";
import {
  dataFolder,
  isHere,
  type Origin,
  originOf,
  originPath,
  sourceFolder,
  splitFileName,
  writeOrigin,
  type FileAddress,
  fileAddress,
} from "./dataset-place.ts";
import { requireExpected } from "./expected-content.ts";
import { describeRemote, downloadProblems, wrongChecksum } from "./remote-dataset.ts";

export interface DatasetDownloadOptions {
  /** Default: all splits of the source. */
  splits?: readonly string[];
  /** Default: the card's first source. */
  source?: string;
  /** Output folder; default: the folder where `--dataset NAME` looks. */
  out?: string;
  environment?: NodeJS.ProcessEnv;
  /** Timeouts and retries; defaults as for models. */
  patience?: Partial<Pick<TransferSettings, "timeoutMs" | "retries" | "retryDelayMs">>;
  /** Download progress; `totalBytes` is null when a server does not announce it. */
  onProgress?: (progress: { file: string; bytes: number; totalBytes: number | null }) => void;
  /** Receives notices for the user. */
  onNotice?: (notice: string) => void;
  signal?: AbortSignal | undefined;
}

export interface DatasetFile extends Origin {
  split: string;
  path: string;
  /** Whether it was already on this machine. */
  wasHere: boolean;
}

/**
 * Downloads the missing files of a dataset: resumes interrupted downloads, verifies checksums and published sizes, and
 * moves a file to its path only when it is complete. Processes that want the same file wait for the one that
 * downloads it.
 *
 * @throws {ConfigError} PART_UNKNOWN for a source or split that the card lacks; DATASET_DISK_FULL before the first byte.
 * @throws {DataError} DATASET_UNEXPECTED, DATASET_ARCHIVE.
 * @throws {ExternalError} DATASET_UNREACHABLE, DATASET_REFUSED, DATASET_CHECKSUM, FILE_WRITE_FAILED.
 */
export async function downloadDataset(
  card: Card,
  options: DatasetDownloadOptions = {},
): Promise<DatasetFile[]> {
  const source = sourceOf(card, options.source, "--source");
  const folder =
    options.out ?? sourceFolder(dataFolder(options.environment), card.name, source.name);
  const all = wantedFiles(card, source, { folder, splits: options.splits });
  const missing = all.filter(({ path }) => !isHere(path));
  const here = new Set(all.filter((wanted) => !missing.includes(wanted)));
  try {
    const fetched = await fetchAll(missing, folder, options);
    for (const wanted of missing)
      await settleOnce(wanted, () => settle(wanted, card, { ...options, fetched }));
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${card.name}: could not be saved in ${folder} (${errorMessage(error)}). Partial downloads are kept. Free space there, or set AGENTRL_DATA to another folder, and run the command again to continue.`,
      { cause: error },
    );
  }
  return all.flatMap((wanted) => {
    const origin = originOf(wanted.path);
    if (origin === null) return [];
    return { ...origin, split: wanted.split, path: wanted.path, wasHere: here.has(wanted) };
  });
}

interface Wanted {
  what: string;
  split: string;
  file: CardFile;
  path: string;
  /** Path of the archive that contains the file; null without an archive. */
  archive: string | null;
}

function wantedFiles(
  card: Card,
  source: NamedSource,
  { folder, splits }: { folder: string; splits: readonly string[] | undefined },
): Wanted[] {
  return [...new Set(splits ?? Object.keys(source.source.splits))].map((name) => {
    const { split, file } = splitOf(card, source, name, "--split");
    const archive =
      file.member === undefined
        ? null
        : join(folder, "archives", basename(new URL(file.url).pathname));
    const path = join(folder, splitFileName(split, file));
    return { what: `${card.name} ${split}`, split, file, path, archive };
  });
}

/** One download: a split's file, or an archive with several. */
interface Fetch {
  wanted: Wanted;
  path: string;
  address: FileAddress;
  promised: Promised;
  expected: string | undefined;
}

/** @returns the downloaded paths; an existing file without an origin is verified later. */
async function fetchAll(
  missing: readonly Wanted[],
  folder: string,
  options: DatasetDownloadOptions,
): Promise<ReadonlySet<string>> {
  const fetches: Fetch[] = [];
  for (const wanted of missing) {
    const path = wanted.archive ?? wanted.path;
    // It may exist from another process, from the user, or from a run that ended early.
    if ((await exists(path)) && (wanted.archive !== null || originOf(path) === null)) continue;
    if (fetches.some((fetch) => fetch.path === path)) continue;
    const { settings, url } = fileAddress(wanted.file.url, options.environment);
    const address = { url, settings: { ...settings, ...options.patience } };
    const promised = await describeRemote(wanted.what, address, options.signal);
    fetches.push({ wanted, path, address, promised, expected: expectedOf(wanted) });
  }
  await refuseUnlessFits(fetches, folder);
  const sizes = fetches.map(({ promised }) => promised.size);
  const totalBytes = sizes.reduce(
    (sum, size) => (sum === null || size === null ? null : sum + size),
    0,
  );
  let before = 0;
  for (const fetch of fetches) {
    const onBytes = (bytes: number): void =>
      options.onProgress?.({ file: fetch.wanted.what, bytes: before + bytes, totalBytes });
    if (isOutgrown(fetch.wanted)) await rm(fetch.path, { force: true });
    await fetchOne(fetch, onBytes, options.signal);
    const size = await sizeOf(fetch.path);
    // Another process downloaded it, so no progress was reported.
    onBytes(size);
    before += size;
  }
  return new Set(fetches.map(({ path }) => path));
}

/** Whether a split's size differs from its origin. False without an origin: another process is still verifying it. */
function isOutgrown({ path, archive }: Wanted): boolean {
  return archive === null && originOf(path) !== null && !isHere(path);
}

/** The published checksum, or that of the first download. */
function expectedOf({ file, path, archive }: Wanted): string | undefined {
  if (file.sha256 !== undefined || archive !== null) return file.sha256;
  const origin = originOf(path);
  return origin?.url === file.url ? origin.sha256 : undefined;
}

async function fetchOne(
  { wanted, path, address, promised, expected }: Fetch,
  onBytes: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { url, settings } = address;
  const isHub = wanted.file.url.startsWith("hub:");
  const problems = downloadProblems(wanted.what, address, { sha256: expected, path });
  // Only the hub's tags are checksums of the content.
  if (isHub && expected !== undefined && /^[0-9a-f]{64}$/.test(promised.tag)) {
    if (promised.tag !== expected)
      throw wrongChecksum(wanted.what, address, { sha256: expected, path });
  }
  await downloadFile({
    settings,
    url,
    size: promised.size,
    path,
    problems,
    onBytes,
    signal,
    version: sha256(`${url.href}\n${promised.tag}\n${promised.size ?? ""}`).slice(0, 12),
    isPromised: async (partial) => {
      if (expected !== undefined) return (await sha256File(partial)) === expected;
      return isHub ? isAsPromised(partial, promised.tag) : null;
    },
  });
}

/** @throws {ConfigError} DATASET_DISK_FULL */
async function refuseUnlessFits(fetches: readonly Fetch[], folder: string): Promise<void> {
  const wanted = fetches.reduce((sum, { promised }) => sum + (promised.size ?? 0), 0);
  const free = await freeDiskBytes(folder);
  if (wanted <= free) return;
  const names = fetches.map((fetch) => fetch.wanted.what).join(", ");
  throw new ConfigError(
    "DATASET_DISK_FULL",
    `${names}: the download needs ${formatBytes(wanted)}, but only ${formatBytes(free)} are free at ${folder}. Free space there, or set AGENTRL_DATA to a folder on another disk.`,
  );
}

/** Files that this process is verifying. */
const settling = new Map<string, Promise<void>>();

async function settleOnce({ path }: Wanted, work: () => Promise<void>): Promise<void> {
  const known = settling.get(path);
  if (known !== undefined) return known;
  const own = work().finally(() => settling.delete(path));
  settling.set(path, own);
  return own;
}

/** Extracts a file from its archive, verifies it against the card, and stores its origin. */
async function settle(
  wanted: Wanted,
  card: Card,
  options: DatasetDownloadOptions & { fetched: ReadonlySet<string> },
): Promise<void> {
  const { file, path, archive, what } = wanted;
  // A file without an origin may be the user's own: it is checked, never replaced.
  const isForeign = (await exists(path)) && originOf(path) === null;
  if (archive !== null && file.member !== undefined && !isForeign) {
    await makeFolder(dirname(path));
    await extractMember(archive, file.member, path, options.signal);
  }
  const isOurs = (archive !== null && !isForeign) || options.fetched.has(path);
  const known = isOurs ? undefined : file.sha256;
  const asked = { what, file, kind: card.kind, isOurs, archive, sha256: known };
  const content = await requireExpected(path, asked, options.signal);
  const { onNotice } = options;
  if (content.unusable > 0)
    onNotice?.(
      `${what}: ${content.unusable} of ${content.records} records cannot be read as questions; \`agentrl data check ${path}\` lists them.`,
    );
  const digest = await sha256File(path);
  const isNew = file.sha256 === undefined && originOf(path)?.sha256 !== digest;
  await writeOrigin(path, {
    url: file.url,
    sha256: digest,
    bytes: await sizeOf(path),
    records: content.records,
    layout: file.layout,
    license: card.license,
  });
  if (!isNew) return;
  onNotice?.(
    `${what}: its card has no checksum. The sha256 ${digest} is saved in ${originPath(path)}; later downloads of the file are compared with it.`,
  );
}
