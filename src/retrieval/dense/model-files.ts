import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Transformers from "@huggingface/transformers";
import { DataError, errorMessage, ExternalError } from "../../base/errors.ts";
import {
  exists,
  isFolder,
  makeFolder,
  readJson,
  sha256,
  sha256File,
  writeFileAtomic,
} from "../../base/files.ts";
import { requireTelemetryOff } from "../../base/telemetry.ts";
import { userCache } from "../../base/user-cache.ts";
import { fetchFile } from "../../http/transfer.ts";

/** How a model's numbers are stored: the ending of its file's name in `onnx/`. In this order when nothing is asked for. */
const SUFFIXES = {
  fp32: "",
  fp16: "_fp16",
  q8: "_quantized",
  int8: "_int8",
  uint8: "_uint8",
  q4: "_q4",
  q4f16: "_q4f16",
  bnb4: "_bnb4",
} as const;

export const MODEL_DTYPES = Object.keys(SUFFIXES) as [ModelDtype, ...ModelDtype[]];
export type ModelDtype = keyof typeof SUFFIXES;

export interface ModelFiles {
  /** What the library is asked for: an absolute folder or a hub name. */
  source: string;
  local: boolean;
  /** Where its files are (the cache's folder for a hub name). */
  folder: string;
  dtype: ModelDtype;
  library: ModelLibrary;
}

/**
 * Finds a model in Hugging Face layout (config.json, tokenizer.json, onnx/model*.onnx).
 *
 * @param model a folder; or else a name on the hub, such as `Xenova/e5-base-v2`, which the library downloads once.
 * @throws {ExternalError} ENCODER_LIBRARY_MISSING; ENCODER_UNAVAILABLE when the hub cannot be reached.
 * @throws {DataError} ENCODER_BAD for a folder without what a model needs, or a name that is neither.
 */
export async function findModel(model: string, dtype?: ModelDtype): Promise<ModelFiles> {
  const library = await modelLibrary();
  if (await isFolder(model)) {
    const folder = resolve(model);
    return {
      source: folder,
      local: true,
      folder,
      dtype: await presentDtype(folder, dtype),
      library,
    };
  }
  if (!/^[\w.-]+\/[\w.-]+$/.test(model) || model.startsWith("."))
    throw new DataError(
      "ENCODER_BAD",
      `${model}: is neither a folder nor the name of a model on the hub (owner/name). Pass a folder with config.json, tokenizer.json and onnx/model.onnx.`,
    );
  const folder = join(library.env.cacheDir ?? "", model);
  await fetchLayout(library, model, folder);
  return { source: model, local: false, folder, dtype: dtype ?? "fp32", library };
}

/** Where a model runs: threads of an operator, and a device by the name of the runtime's provider. */
export interface ModelPlace {
  threads: number;
  device?: string | undefined;
}

/** Options for the library when it loads a part of the model. */
export function loadOptions({ local, dtype }: ModelFiles, { threads, device }: ModelPlace): object {
  return {
    dtype,
    device,
    local_files_only: local,
    session_options: { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 3 },
  };
}

function graphFile({ dtype }: Pick<ModelFiles, "dtype">): string {
  return join("onnx", `model${SUFFIXES[dtype]}.onnx`);
}

/** A hash of what decides a model's output: graph, weights beside it, tokenizer, configuration. */
export async function modelHash(files: ModelFiles): Promise<string> {
  const graph = graphFile(files);
  const parts: string[] = [];
  for (const name of [graph, `${graph}_data`, "tokenizer.json", "config.json"]) {
    const path = join(files.folder, name);
    if (await exists(path)) parts.push(await sha256File(path));
  }
  return sha256(parts.join());
}

/** A JSON file of the model, or undefined where it has none. @throws {DataError} FILE_NOT_JSON */
export async function modelJson(
  { folder }: Pick<ModelFiles, "folder">,
  name: string,
): Promise<unknown> {
  const path = join(folder, name);
  return (await exists(path)) ? readJson(path) : undefined;
}

/** What loading or running the model said, as our error. */
export function modelFailure({ source, local }: ModelFiles, error: unknown): Error {
  const said = errorMessage(error).split("\n")[0]!;
  if (local || !/fetch|network|ENOTFOUND|ECONN|EAI_AGAIN|timed? ?out/i.test(deepMessage(error)))
    return new DataError(
      "ENCODER_BAD",
      `${source}: cannot be loaded as a model (${said}). It needs config.json, tokenizer.json and onnx/model.onnx, as written by \`optimum-cli export onnx\`.`,
      { cause: error },
    );
  return unreachable(source, error);
}

function unreachable(source: string, error: unknown): ExternalError {
  return new ExternalError(
    "ENCODER_UNAVAILABLE",
    `${source}: is not a local folder, and the hub could not be reached (${deepMessage(error)}). Pass a folder with the model, or set HF_ENDPOINT to a mirror.`,
    { cause: error },
  );
}

function deepMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined
    ? errorMessage(error)
    : `${errorMessage(error)}: ${errorMessage(cause)}`;
}

async function presentDtype(folder: string, asked?: ModelDtype): Promise<ModelDtype> {
  for (const dtype of asked === undefined ? MODEL_DTYPES : [asked]) {
    if (await exists(join(folder, graphFile({ dtype })))) return dtype;
  }
  const wanted = asked === undefined ? "onnx/model.onnx" : graphFile({ dtype: asked });
  throw new DataError(
    "ENCODER_BAD",
    `${folder}: has no ${wanted}. Export the model to ONNX (\`optimum-cli export onnx\`), or choose a dtype whose file exists.`,
  );
}

/** Files by which sentence-transformers tells pooling, length and prompts; the library does not fetch them. */
const LAYOUT_FILES = [
  "modules.json",
  "1_Pooling/config.json",
  "sentence_bert_config.json",
  "config_sentence_transformers.json",
];

/** Puts them into the library's cache, once; an empty object stands for a file that the hub does not have. */
async function fetchLayout(library: ModelLibrary, model: string, folder: string): Promise<void> {
  for (const name of LAYOUT_FILES) {
    const path = join(folder, name);
    if (await exists(path)) continue;
    const url = `${library.env.remoteHost}${model}/resolve/main/${name}`;
    const response = await fetchFile(url).catch((error: unknown) => {
      throw unreachable(model, error);
    });
    if (!response.ok && response.status !== 404) {
      // The hub answers 401 for a model that does not exist.
      throw unreachable(model, new Error(`${url} answers ${response.status}`));
    }
    await makeFolder(dirname(path));
    await writeFileAtomic(path, response.ok ? await response.text() : "{}\n");
  }
}

/** Whether a model is of the E5 family, whose texts carry prefixes. */
export function isE5({ source }: ModelFiles, config: unknown): boolean {
  const { _name_or_path: origin = "" } = (config ?? {}) as { _name_or_path?: unknown };
  return [basename(source), String(origin)].some((name) =>
    /(^|[^a-z0-9])e5([^a-z0-9]|$)/i.test(name),
  );
}

/** The library that runs embedding and reranking models; types only, so that nothing is loaded. */
export type ModelLibrary = typeof Transformers;

/**
 * Loads `@huggingface/transformers`, an optional peer dependency, because its 190 MB are only needed for embeddings.
 *
 * @throws {ExternalError} ENCODER_LIBRARY_MISSING when it is not installed or does not load.
 */
async function modelLibrary(): Promise<ModelLibrary> {
  requireTelemetryOff();
  try {
    const library = await import("@huggingface/transformers");
    // Its default is a folder inside its own package, which may be read-only.
    library.env.cacheDir = join(userCache(), "encoders");
    library.env.logLevel = library.LogLevel.ERROR;
    library.env.fetch = fetchFile;
    const endpoint = process.env["HF_ENDPOINT"];
    if (endpoint !== undefined && endpoint !== "")
      library.env.remoteHost = `${endpoint.replace(/\/$/, "")}/`;
    return library;
  } catch (error) {
    throw new ExternalError(
      "ENCODER_LIBRARY_MISSING",
      `@huggingface/transformers does not load (${firstLine(error)}). Dense retrieval and reranking run their models with it: npm install --ignore-scripts @huggingface/transformers@4`,
      { cause: error },
    );
  }
}

function firstLine(error: unknown): string {
  return errorMessage(error).split("\n")[0]!.replace(pathToFileURL(process.cwd()).href, ".");
}
