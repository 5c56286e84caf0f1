import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { formatBytes } from "../base/format.ts";
import { ConfigError, DataError, ExternalError, errorMessage } from "../base/errors.ts";
import { exists, freeDiskBytes, isFolder, readJson } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { checkOptions, z } from "../base/schema.ts";
import { allOrAbort, limiter } from "../http/concurrency.ts";
import { isDiskError, transfer, withRetries } from "../http/transfer.ts";
import { type RemoteFile, downloadBlob, refusal, remoteFile, unreachable } from "./remote-file.ts";
import {
  type CachePlace,
  type HubName,
  type HubSettings,
  cachePlace,
  hubNameText,
  hubSettings,
  isCommit,
  parseHubName,
} from "./hub-cache.ts";

/** Download progress over all files of a model. */
export interface HubProgress {
  /** The file that just grew. */
  file: string;
  bytes: number;
  totalBytes: number;
}

export interface HubModelOptions {
  settings?: HubSettings;
  onProgress?: (progress: HubProgress) => void;
  /** Receives a notice for the user: the hub cannot be reached, so the cache is used. */
  onNotice?: (notice: string) => void;
  signal?: AbortSignal | undefined;
}

interface HubModel {
  /** Contains its files under their names, in Hugging Face layout. */
  folder: string;
  name: HubName;
  /** The commit of the revision: the same commit has the same files. */
  commit: string;
}

/** Requests and downloads at once. */
const CONCURRENCY = 4;

/**
 * Finds a hub model in the cache, or downloads its missing files: configuration, tokenizer, chat templates and
 * safetensors weights. Resumes interrupted downloads, and verifies files (SHA-256 of large files, Git's hash of small
 * ones). The cache is shared with Hugging Face's own programs.
 *
 * @throws {ConfigError} HUB_NOT_FOUND, HUB_GATED, HUB_DENIED, HUB_OFFLINE, HUB_DISK_FULL.
 * @throws {DataError} HUB_NOT_A_MODEL.
 * @throws {ExternalError} HUB_UNREACHABLE, HUB_CHECKSUM, FILE_WRITE_FAILED, HTTP_BAD_REPLY.
 */
export async function hubModel(name: HubName, options: HubModelOptions = {}): Promise<HubModel> {
  const settings = options.settings ?? hubSettings();
  const place = cachePlace(settings.cache, name);
  const cached = await cachedModel(name, place);
  if (cached !== null && (settings.offline || isCommit(name.revision))) return cached;
  if (settings.offline)
    throw new ConfigError(
      "HUB_OFFLINE",
      `${hubNameText(name)}: is missing or incomplete in ${settings.cache}, and HF_HUB_OFFLINE is set. Unset it, or set HF_HUB_CACHE to the folder that contains the model.`,
    );
  const asked = { settings, name, signal: options.signal };
  let found: Repository;
  try {
    found = await repositoryOf(asked);
  } catch (error) {
    if (cached === null || !(error instanceof ExternalError)) throw error;
    options.onNotice?.(
      `${error.message} The cached files of commit ${cached.commit} are used instead.`,
    );
    return cached;
  }
  try {
    await fetchFiles({ ...asked, ...options, settings, place }, found);
    await place.remember(name.revision, found.commit);
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${hubNameText(name)}: could not be saved in ${settings.cache} (${errorMessage(error)}). Free space there, or set HF_HUB_CACHE to another folder.`,
      { cause: error },
    );
  }
  return { folder: place.snapshot(found.commit), name, commit: found.commit };
}

/** The folder of a hub model in the cache; null when it is missing or incomplete. Nothing is requested. */
export async function cachedHubModel(
  name: HubName,
  { cache }: Pick<HubSettings, "cache">,
): Promise<string | null> {
  return (await cachedModel(name, cachePlace(cache, name)))?.folder ?? null;
}

async function cachedModel(name: HubName, place: CachePlace): Promise<HubModel | null> {
  const commit = await place.commitOf(name.revision);
  if (commit === null) return null;
  const folder = place.snapshot(commit);
  return (await isWholeModel(folder)) ? { folder, name, commit } : null;
}

interface Asked {
  settings: HubSettings;
  name: HubName;
  signal?: AbortSignal | undefined;
}

interface Repository {
  commit: string;
  files: string[];
}

const repositorySchema = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  siblings: z.array(z.object({ rfilename: z.string() })),
});

async function repositoryOf({ settings, name, signal }: Asked): Promise<Repository> {
  const { repository, revision } = name;
  const path = `api/models/${repository}/revision/${encodeURIComponent(revision)}`;
  const url = new URL(`${settings.endpoint}/${path}`);
  const request = { method: "GET", url, follow: "endpoint", signal } as const;
  const what = hubNameText(name);
  const reply = await withRetries(settings, { givenUp: unreachable(settings, what), signal }, () =>
    transfer(settings, request, async (response) => {
      if (response.status !== 200) throw refusal(response, name, settings);
      const text = await response.text();
      return parsed(text);
    }),
  );
  const checked = checkOptions(repositorySchema, reply);
  if (checked.problem !== null)
    throw new ExternalError(
      "HTTP_BAD_REPLY",
      `${what}: the reply of ${settings.endpoint}/api does not describe a model. Check HF_ENDPOINT.`,
    );
  const all = checked.value.siblings.map(({ rfilename }) => rfilename);
  const files = wantedFiles(all);
  if (files === null) {
    const shown = all
      .filter((file) => !file.startsWith("."))
      .slice(0, 12)
      .join(", ");
    throw new DataError(
      "HUB_NOT_A_MODEL",
      `${what}: contains ${shown}; a model needs config.json, tokenizer.json and model.safetensors (or its shards and their index). Choose a repository with safetensors weights.`,
    );
  }
  return { commit: checked.value.sha, files };
}

/** Null for invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

interface Fetching extends Asked {
  place: CachePlace;
  onProgress?: HubModelOptions["onProgress"];
}

async function fetchFiles(fetching: Fetching, { commit, files }: Repository): Promise<void> {
  const { settings, name, place, signal, onProgress } = fetching;
  const turns = limiter(CONCURRENCY);
  const snapshot = place.snapshot(commit);
  const missing: string[] = [];
  for (const file of files) if (!(await exists(`${snapshot}/${file}`))) missing.push(file);
  const remote = await allOrAbort(
    missing,
    (file, all) =>
      turns.run(() => remoteFile(settings, { name, commit }, { name: file, signal: all }), all),
    signal,
  );
  await refuseUnlessFits(fetching, remote);
  const totalBytes = remote.reduce((sum, { size }) => sum + size, 0);
  const here = new Map<string, number>();
  await allOrAbort(
    remote,
    (file, all) =>
      turns.run(async () => {
        const blob = place.blob(file.checksum);
        const onBytes = (bytes: number): void => {
          here.set(file.name, bytes);
          const sum = [...here.values()].reduce((a, b) => a + b, 0);
          onProgress?.({ file: file.name, bytes: sum, totalBytes });
        };
        if (!(await exists(blob)))
          await downloadBlob({ settings, name, file, blob, onBytes, signal: all });
        onBytes(file.size);
        await place.place(blob, commit, file.name);
      }, all),
    signal,
  );
}

/** @throws {ConfigError} HUB_DISK_FULL */
async function refuseUnlessFits(
  { settings, name, place }: Fetching,
  files: readonly RemoteFile[],
): Promise<void> {
  let wanted = 0;
  for (const { checksum, size } of files) if (!(await exists(place.blob(checksum)))) wanted += size;
  const free = await freeDiskBytes(settings.cache);
  if (wanted <= free) return;
  throw new ConfigError(
    "HUB_DISK_FULL",
    `${hubNameText(name)}: the download needs ${formatBytes(wanted)}, but only ${formatBytes(free)} are free at ${settings.cache}. Free space there, or set HF_HUB_CACHE to a folder on another disk.`,
  );
}

/**
 * The folder of a model given as a folder, or as `org/name` or `org/name@revision` on the hub. An existing folder wins.
 *
 * @param options.known names that the caller knows, for the message.
 * @throws {ConfigError} MODEL_NAME when it is neither; and as `hubModel`.
 */
export async function modelFolder(
  model: string,
  { known, ...options }: HubModelOptions & { known?: readonly string[] } = {},
): Promise<string> {
  if (await isFolder(model)) return model;
  const name = parseHubName(model);
  if (name === null)
    throw new ConfigError(
      "MODEL_NAME",
      `${model}: is neither a folder nor the name of a model on the hub (org/name or org/name@revision). Pass a folder in Hugging Face layout, with config.json, model.safetensors and tokenizer.json, or such a name.${known === undefined ? "" : ` ${suggest(model, known)}`}`,
    );
  return (await hubModel(name, options)).folder;
}

/** Files to download besides the weights: configuration, tokenizer, chat templates. */
const BESIDE_WEIGHTS =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^(merges\.txt|tokenizer\.model|chat_template\.jinja)$|^additional_chat_templates\/[\w.-]+\.jinja$/;
const WEIGHTS_INDEX = "model.safetensors.index.json";
const SHARD = /^model-\d+-of-\d+\.safetensors$/;
const WHOLE = "model.safetensors";
const ADAPTER = /^adapter_(config\.json|model\.safetensors)$/;

/**
 * The files of a repository that a model needs: no weights in other formats, no duplicates.
 * @returns null when files of a model are missing.
 */
function wantedFiles(files: readonly string[]): string[] | null {
  const sharded = files.includes(WEIGHTS_INDEX);
  const weights = files.filter((file) =>
    sharded ? file === WEIGHTS_INDEX || SHARD.test(file) : file === WHOLE,
  );
  const adapter = files.filter((file) => ADAPTER.test(file));
  const isDescribed = ["config.json", "tokenizer.json"].every((file) => files.includes(file));
  const whole = isDescribed && weights.length > (sharded ? 1 : 0);
  if (!whole && adapter.length < 2) return null;
  return [...files.filter((file) => BESIDE_WEIGHTS.test(file)), ...weights, ...adapter];
}

/** Whether a snapshot contains a complete model, with every shard. */
async function isWholeModel(snapshot: string): Promise<boolean> {
  const names = await readdir(snapshot).catch(() => []);
  const present: string[] = [];
  for (const name of names) if (await exists(join(snapshot, name))) present.push(name);
  if (wantedFiles(present) === null) return false;
  if (!present.includes(WEIGHTS_INDEX)) return true;
  const index = (await readJson(join(snapshot, WEIGHTS_INDEX)).catch(() => null)) as {
    weight_map?: Record<string, string>;
  } | null;
  const shards = new Set(Object.values(index?.weight_map ?? {}));
  return shards.size > 0 && [...shards].every((shard) => present.includes(shard));
}
