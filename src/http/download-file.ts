import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { exists, makeFolder, sha256File, sizeOf } from "../base/files.ts";
import { isAlive, processMark } from "../base/folder-lock.ts";
import { Interruption, type TransferSettings, transfer, withRetries } from "./transfer.ts";

export interface DownloadProblems {
  unreachable(last: Interruption, attempts: number): Error;
  /** The file arrived twice with other content than announced. */
  changed(): Error;
  /** The server answered 401, 403 or 404. */
  refused(response: Response): Error;
}

interface DownloadRequest {
  settings: TransferSettings;
  url: URL;
  /** Bytes; null when the server does not announce it. */
  size: number | null;
  /** Path of the complete file. */
  path: string;
  /**
   * Part of the names of incomplete files, so that a download does not continue a file of another version. Absent when the path
   * itself identifies the content.
   */
  version?: string;
  /** Whether a file matches its announced checksum; null when there is none. */
  isPromised: (path: string) => Promise<boolean | null>;
  problems: DownloadProblems;
  /** Bytes of the file so far; may fall when a download restarts. */
  onBytes: (bytes: number) => void;
  signal?: AbortSignal | undefined;
}

interface UnderWay {
  work: Promise<void>;
  /** `onBytes` of all callers that want the file. */
  listeners: DownloadRequest["onBytes"][];
}

/** Downloads of this process by path: several callers may want the same file. */
const underWay = new Map<string, UnderWay>();

/**
 * Downloads a file once. It continues the incomplete file of a dead process, waits while another process downloads the same file, and
 * moves the file to its path only when it is complete and verified.
 *
 * @throws the errors of `problems`, and disk errors.
 */
export async function downloadFile(request: DownloadRequest): Promise<void> {
  const { path, onBytes } = request;
  const known = underWay.get(path);
  if (known !== undefined) {
    known.listeners.push(onBytes);
    return known.work;
  }
  const listeners = [onBytes];
  const tellAll = (bytes: number): void => {
    for (const listener of listeners) listener(bytes);
  };
  const work = download({ ...request, onBytes: tellAll }).finally(() => underWay.delete(path));
  underWay.set(path, { work, listeners });
  return work;
}

async function download(request: DownloadRequest): Promise<void> {
  const { path, problems, settings, signal } = request;
  await makeFolder(dirname(path));
  if (await loadedByOther(request)) return;
  const partial = `${partBase(request)}.${processMark()}${ENDING}`;
  const givenUp = (last: Interruption, attempts: number): Error =>
    problems.unreachable(last, attempts);
  for (let attempt = 1; ; attempt++) {
    let furthest = 0;
    await withRetries(settings, { givenUp, signal }, (progress) =>
      fetchRest(request, partial, (at) => {
        // Repeated bytes (a server without ranges, or a wrong size) are no progress.
        if (at <= furthest) return;
        furthest = at;
        progress();
      }),
    );
    if ((await request.isPromised(partial)) !== false) break;
    await rm(partial, { force: true });
    // The incomplete file of an earlier run may have been wrong; a wrong file that was downloaded from byte 0 fails.
    if (attempt === 2) throw problems.changed();
  }
  await rename(partial, path);
}

function partBase({ path, version }: DownloadRequest): string {
  return version === undefined ? path : `${path}.${version}`;
}

/** Suffix of an incomplete file, after the mark of the process that writes it. */
const ENDING = ".incomplete";
/** Another process that has written nothing for this long is not waited for. */
const IDLE_MS = 60_000;
const LOOK_MS = 200;

/**
 * Waits while another process of this machine downloads the same file, and takes over the incomplete files of dead processes.
 * @returns true when the file is complete.
 */
async function loadedByOther(request: DownloadRequest): Promise<boolean> {
  const { path, signal, onBytes } = request;
  const base = partBase(request);
  for (;;) {
    if (await exists(path)) return true;
    const parts = await partsOf(base);
    const busy = parts.find(({ mark, idleMs }) => isAlive(mark) && idleMs < IDLE_MS);
    if (busy === undefined) {
      await takeOver(
        base,
        parts.filter(({ mark }) => !isAlive(mark)),
      );
      return false;
    }
    onBytes(busy.size);
    await wait(LOOK_MS);
    signal?.throwIfAborted();
  }
}

interface Part {
  path: string;
  mark: string;
  size: number;
  idleMs: number;
}

/** Incomplete files of other processes. */
async function partsOf(base: string): Promise<Part[]> {
  const start = `${basename(base)}.`;
  const parts: Part[] = [];
  for (const entry of await readdir(dirname(base))) {
    if (!entry.startsWith(start) || !entry.endsWith(ENDING)) continue;
    const mark = entry.slice(start.length, -ENDING.length);
    // No mark: another program's file. Our own mark: left by an earlier attempt of this process.
    if (mark === "" || mark === processMark()) continue;
    const path = join(dirname(base), entry);
    const found = await stat(path).catch(() => null);
    if (found !== null)
      parts.push({ path, mark, size: found.size, idleMs: Date.now() - found.mtimeMs });
  }
  return parts;
}

async function takeOver(base: string, parts: readonly Part[]): Promise<void> {
  const own = `${base}.${processMark()}${ENDING}`;
  const [largest, ...others] = parts.toSorted((a, b) => b.size - a.size);
  // The first process that renames it gets it; the other starts from byte 0.
  if (largest !== undefined && largest.size > (await sizeOf(own)))
    await rename(largest.path, own).catch(() => undefined);
  for (const { path } of others) await rm(path, { force: true });
}

/** One attempt to download the rest. @param reached receives the number of bytes so far. */
async function fetchRest(
  { settings, url, size: promised, problems, onBytes, signal }: DownloadRequest,
  partial: string,
  reached: (at: number) => void,
): Promise<void> {
  const output = await open(partial, "a");
  try {
    let at = (await output.stat()).size;
    const beginAnew = async (): Promise<void> => {
      await output.truncate(0);
      at = 0;
    };
    if (promised !== null && at > promised) await beginAnew();
    onBytes(at);
    if (at === promised) return;
    const headers: Record<string, string> = at > 0 ? { range: `bytes=${at}-` } : {};
    const request = { method: "GET", url, headers, follow: "anywhere", signal } as const;
    await transfer(settings, request, async (response, alive) => {
      if (response.status === 416 && promised === null) {
        if (totalOf(response) === at) return;
        await beginAnew();
        throw new Interruption("the file on the server became shorter");
      }
      if (!(await continues(response, at, problems))) await beginAnew();
      const size = promised ?? totalOf(response);
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        if (size !== null && at + chunk.length > size)
          throw new Interruption(`the server sent more than the announced ${size} bytes`);
        await output.appendFile(chunk);
        at += chunk.length;
        alive();
        reached(at);
        onBytes(at);
      }
      if (size !== null && at < size)
        throw new Interruption(`the connection was cut at byte ${at} of ${size}`);
    });
    await output.sync();
  } finally {
    await output.close();
  }
}

/** Size of the whole file, from the response's headers; null when absent. */
function totalOf({ status, headers }: Response): number | null {
  const range = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const text = status === 200 ? headers.get("content-length") : range;
  return text === null || text === undefined ? null : Number(text);
}

/** Whether a response continues the partial file; false: it starts at byte 0. */
async function continues(
  response: Response,
  at: number,
  problems: DownloadProblems,
): Promise<boolean> {
  const { status, headers } = response;
  if (status === 206) {
    if (headers.get("content-range")?.startsWith(`bytes ${at}-`) === true) return true;
    throw new Interruption(`the server sent a different range than byte ${at} onwards`);
  }
  if (status === 200) return at === 0;
  if (status === 401 || status === 403 || status === 404) throw problems.refused(response);
  await response.body?.cancel();
  throw new Interruption(`status ${status}`);
}

/** Size and checksum that a server's headers announce. */
export interface Promised {
  /** Bytes; null when absent. */
  size: number | null;
  /** SHA-256 of a large file on the hub, Git's SHA-1 of a small one, or another server's ETag; empty when absent. */
  tag: string;
}

/** Reads size and tag. The hub redirects large files, and describes the target in headers of its own. */
export function promisedBy(headers: Headers): Promised {
  const tag = headers.get("x-linked-etag") ?? headers.get("etag") ?? "";
  const size = Number(headers.get("x-linked-size") ?? headers.get("content-length") ?? NaN);
  return {
    size: Number.isSafeInteger(size) ? size : null,
    tag: tag.replace(/^W\//, "").replaceAll('"', ""),
  };
}

/** Whether a file matches the checksum in the tag; null when the tag is not a checksum. */
export async function isAsPromised(path: string, tag: string): Promise<boolean | null> {
  if (/^[0-9a-f]{64}$/.test(tag)) return (await sha256File(path)) === tag;
  if (/^[0-9a-f]{40}$/.test(tag)) return (await gitHash(path)) === tag;
  return null;
}

async function gitHash(path: string): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash("sha1").update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
