import { createReadStream, existsSync, readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Libraries of the CUDA provider, which its installer puts beside the runtime. */
const PROVIDER = "libonnxruntime_providers_cuda.so";
const BRIDGE = "libonnxruntime_providers_shared.so";
const RUNTIME = "libonnxruntime.so.1";

/**
 * Builds of the provider that come from the same commit as a runtime: the GNU build id of the provider by the commit of the runtime.
 * The provider itself does not name its commit. Source: the wheel onnxruntime-gpu 1.30.0 of PyPI, whose own runtime names the commit.
 */
const KNOWN_BUILDS: Readonly<Record<string, readonly string[]>> = {
  f2c39fe2f: ["cb49769971ffd58123f8d12b4284c2cc741d9c0b"],
};

/**
 * absent: files are missing. foreign: the provider is of another version of the runtime, and would be loaded all the same: the runtime
 * compares nothing, over a private interface. unknown: the version is equal, the commit cannot be told. same: one commit built both.
 */
export type ProviderFinding =
  | { state: "absent"; missing: readonly string[] }
  | { state: "foreign"; found: readonly string[] }
  | { state: "unknown" }
  | { state: "same"; commit: string };

/** Folder of the runtime's native files on this machine; null where there is none. */
function runtimeFolder(): string | null {
  const at = createRequire(import.meta.url).resolve("onnxruntime-node/package.json");
  const bin = join(dirname(at), "bin");
  const folders = existsSync(bin) ? readdirSync(bin) : [];
  const here = folders.map((api) => join(bin, api, process.platform, process.arch));
  return here.find((folder) => existsSync(folder)) ?? null;
}

/**
 * Compares the CUDA provider in a folder with the runtime beside it.
 * @param version of the runtime, such as "1.30.0".
 */
export async function findProvider(folder: string, version: string): Promise<ProviderFinding> {
  const missing = [PROVIDER, BRIDGE].filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) return { state: "absent", missing };
  const provider = join(folder, PROVIDER);
  const hasVersion = await firstMatch(provider, (text) => text.includes(`\0${version}\0`) || null);
  if (hasVersion === null) {
    const found = await firstMatch(provider, (text) => {
      const all = [...text.matchAll(/\0(\d+\.\d+\.\d+)(?=\0)/g)].map(([, each = ""]) => each);
      return all.length === 0 ? null : all;
    });
    return { state: "foreign", found: found ?? [] };
  }
  const commit = await firstMatch(
    join(folder, RUNTIME),
    (text) => /git-commit-id=([0-9a-f]+)/.exec(text)?.[1] ?? null,
  );
  const isKnown =
    commit !== null && KNOWN_BUILDS[commit]?.includes((await buildId(provider)) ?? "") === true;
  return isKnown ? { state: "same", commit } : { state: "unknown" };
}

/**
 * Why the CUDA provider cannot be used; null: its files are there and of the runtime's version.
 * @param version of the runtime.
 */
export async function providerProblem(
  version: string,
  folder: string | null = runtimeFolder(),
): Promise<string | null> {
  if (folder === null) return "onnxruntime-node has no native files for this platform";
  const finding = await findProvider(folder, version);
  const remedy = `install the provider of onnxruntime-gpu ${version} (docs/devices.md)`;
  if (finding.state === "absent")
    return `${finding.missing.join(" and ")} not found in ${folder}: ${remedy}`;
  if (finding.state !== "foreign") return null;
  const found = finding.found.length === 0 ? "an unknown version" : finding.found.join(" or ");
  return `refused: the provider is of onnxruntime ${found}, the runtime of ${version}, and the runtime would load it without a check: ${remedy}`;
}

/** What is known of the provider's build, for a report; null: there is none, or it is refused. */
export async function providerBuild(version: string): Promise<string | null> {
  const folder = runtimeFolder();
  const finding = folder === null ? null : await findProvider(folder, version);
  if (finding?.state === "same") return `its provider is of the runtime's commit ${finding.commit}`;
  return finding?.state === "unknown"
    ? `its provider is of version ${version}, as the runtime, but of a build that agentrl does not know`
    : null;
}

/** Why the system's loader refuses the provider, which the runtime does not say; "" where it loads. */
export function loadProblem(folder: string | null = runtimeFolder()): string {
  try {
    if (folder !== null) process.dlopen({ exports: {} }, join(folder, PROVIDER));
    return "";
  } catch (error) {
    const { message } = error as Error;
    // It loads, and is no addon of Node.
    return message.includes("did not self-register") ? "" : message;
  }
}

/** The longest text that is looked for; pieces of a file overlap by it. */
const OVERLAP = 128;

/** The first result that is not null, over the pieces of a file as latin1. */
async function firstMatch<T>(path: string, look: (text: string) => T | null): Promise<T | null> {
  if (!existsSync(path)) return null;
  let end = "";
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 22 })) {
    const text = end + (piece as Buffer).toString("latin1");
    const found = look(text);
    if (found !== null) return found;
    end = text.slice(-OVERLAP);
  }
  return null;
}

/** Head of the ELF note with the build id: lengths of name and id, its type, "GNU". */
const NOTE = Buffer.from([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 0x47, 0x4e, 0x55, 0]);

/** The linker's mark of a library, in its first page; null where it has none. */
async function buildId(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const at = buffer.indexOf(NOTE);
    const from = at + NOTE.length;
    return at < 0 || from + 20 > bytesRead ? null : buffer.toString("hex", from, from + 20);
  } finally {
    await file.close();
  }
}
