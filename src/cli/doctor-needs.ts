import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { access, constants, readFile, statfs } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "../base/errors.ts";
import { formatBytes, formatRate } from "../base/format.ts";
import { packageRoot } from "../base/package-root.ts";
import { hubSettings } from "../hub/hub-cache.ts";
import { providerBuild } from "../onnx/cuda-provider.ts";
import type { DeviceName } from "../onnx/device-names.ts";
import { runtimeInfo } from "../onnx/runtime-info.ts";
import { findBase, placeOfBases, SHIPPED_POLICIES } from "../run/bases.ts";
import { shippedBases } from "../run/settings/base-names.ts";

/** Result of one check. */
export interface Check {
  name: string;
  /** false: required. */
  ok: boolean;
  /** For optional parts: whether it is there. */
  there?: boolean;
  /** The finding as text; a problem with its remedy. */
  found: string;
}

export const good = (name: string, found: string): Check => ({ name, ok: true, found });
export const bad = (name: string, found: string): Check => ({ name, ok: false, found });
/** An optional part is not there. */
export const lacking = (name: string, found: string): Check => ({
  name,
  ok: true,
  there: false,
  found,
});

/** With less, a tiny-world run with its checkpoints may fail. */
const LITTLE_DISK = 1e9;
/** With fewer, an index of many segments or a busy server may fail. */
const FEW_DESCRIPTORS = 256;
/** 1 January 2024: an earlier clock is wrong, so certificates would be invalid. */
const EARLIEST = 1_704_067_200_000;

/** Requirements of a run beside the runtime: cores, memory, disk, descriptors, clock, optional packages, caches, and the shipped policy. */
export async function checkNeeds(): Promise<Check[]> {
  return [
    checkCores(),
    checkMemoryLimit(),
    await checkRunsFolder(),
    checkDescriptors(),
    checkClock(),
    await checkPackage("hnswlib-node", "vectors are searched exactly, which is slower"),
    await checkPackage(
      "@huggingface/transformers",
      "dense retrieval and reranking need it",
      "--ignore-scripts @huggingface/transformers@4",
    ),
    await checkHubCache(),
    checkVariables(),
    ...(await Promise.all(
      [...SHIPPED_POLICIES].map(([policy, folder]) => checkPolicy(policy, folder)),
    )),
    await checkBases(),
  ];
}

function checkCores(): Check {
  const quota = cpuQuota();
  const cores = availableParallelism();
  const name = "cores to use";
  if (quota === null || quota >= cores)
    return good(name, `${cores} of ${cpus().length}, no smaller quota`);
  const workers = Math.max(1, Math.floor(quota));
  return lacking(
    name,
    `a container's quota of ${formatRate(quota)} of ${cores}: set engine.workers to ${workers}, or they wait for each other`,
  );
}

/** Processors that a container may use; null without a limit. */
function cpuQuota(): number | null {
  const [limit, period] = (read("/sys/fs/cgroup/cpu.max") ?? "max").trim().split(/\s+/);
  if (limit !== undefined && limit !== "max") return Number(limit) / Number(period ?? 100_000);
  const quota = Number(read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") ?? -1);
  const length = Number(read("/sys/fs/cgroup/cpu/cpu.cfs_period_us") ?? 100_000);
  return quota > 0 ? quota / length : null;
}

function checkMemoryLimit(): Check {
  const limit = process.constrainedMemory();
  const own = limit > 0 && limit < totalmem();
  const found = own
    ? `a container's limit of ${formatBytes(limit)}; recipes plan counts with it`
    : "none smaller than the machine's";
  const name = "memory limit";
  const addresses = Number(
    /^Max address space\s+(\d+)/m.exec(read("/proc/self/limits") ?? "")?.[1],
  );
  if (Number.isNaN(addresses)) return good(name, found);
  const cure = "set NODE_OPTIONS=--disable-wasm-trap-handler where requests are refused";
  return lacking(
    name,
    `${found}; ulimit -v allows ${formatBytes(addresses)} of addresses: ${cure}`,
  );
}

async function checkRunsFolder(): Promise<Check> {
  const name = "runs folder";
  const runs = resolve("runs");
  const folder = existsSync(runs) ? runs : dirname(runs);
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const place = `${folder} is writable, ${formatBytes(free)} free`;
    if (free >= LITTLE_DISK) return good(name, place);
    return lacking(name, `${place}: little for checkpoints; --out names another`);
  } catch (error) {
    const found = `${folder} is not writable (${errorMessage(error)}); --out names another`;
    return lacking(name, found);
  }
}

function checkDescriptors(): Check {
  const name = "open files";
  const line = /^Max open files\s+(\S+)/m.exec(read("/proc/self/limits") ?? "");
  const limit = line?.[1];
  if (limit === undefined) return good(name, "limit not known here");
  const few = Number(limit) < FEW_DESCRIPTORS;
  const found = few ? `up to ${limit}: raise it with ulimit -n 4096` : `up to ${limit}`;
  return { name, ok: true, there: !few, found };
}

function checkClock(): Check {
  const now = new Date();
  const set = now.getTime() >= EARLIEST;
  const found = set
    ? now.toISOString()
    : `${now.toISOString()}: set it, or no certificate is valid`;
  return { name: "clock", ok: true, there: set, found };
}

async function checkPackage(name: string, without: string, install = name): Promise<Check> {
  const folder = join(packageRoot, "node_modules", name);
  const version = await installedVersion(folder, name);
  if (version === null) {
    const found = `not here: ${without} (npm install ${install})`;
    return lacking(name, found);
  }
  const built = join(folder, "build", "Release", "addon.node");
  if (name === "hnswlib-node" && existsSync(folder) && !existsSync(built)) {
    const found = `${version}, not built: ${without} (npm rebuild ${name}, with a C++ compiler)`;
    return lacking(name, found);
  }
  return good(name, version);
}

/** Version of a package here or in a folder above, to which npm hoists. */
async function installedVersion(folder: string, name: string): Promise<string | null> {
  for (const place of [folder, join(packageRoot, "..", ...name.split("/"))]) {
    const text = await readFile(join(place, "package.json"), "utf8").catch(() => null);
    if (text !== null) return (JSON.parse(text) as { version: string }).version;
  }
  return null;
}

async function checkHubCache(): Promise<Check> {
  const name = "models' cache";
  const { cache, token, offline } = hubSettings();
  let folder = cache;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const writable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  const more = `${token === null ? "no token" : "a token is set"}${offline ? ", offline" : ""}`;
  if (writable) return good(name, `${cache} is writable; ${more}`);
  const found = `${cache} is not writable: set HF_HOME to a folder that is; ${more}`;
  return lacking(name, found);
}

const VARIABLES = [
  ...["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"],
  ...["HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN"],
];

/** Names of the set variables without their values: a proxy's address may contain a password. */
function checkVariables(): Check {
  const set = VARIABLES.filter((name) => {
    return [name, name.toLowerCase()].some((each) => (process.env[each] ?? "").trim() !== "");
  });
  return good("variables set", set.length === 0 ? "none" : set.join(", "));
}

/** Whether a shipped policy matches its recorded hash. */
async function checkPolicy(policy: string, folder: string): Promise<Check> {
  const name = `${policy} policy`;
  try {
    const [weights, page] = await Promise.all([
      readFile(join(folder, "model.safetensors")),
      readFile(join(folder, "README.md"), "utf8"),
    ]);
    const found = createHash("sha256").update(weights).digest("hex");
    if (page.includes(found)) return good(name, `intact, ${found.slice(0, 12)}`);
    return bad(name, `its weights are not those that its README names: reinstall agentrl`);
  } catch (error) {
    return bad(name, `${errorMessage(error)}: reinstall agentrl`);
  }
}

/** The bases that were made on this machine, by their present recipes. */
async function checkBases(): Promise<Check> {
  const bases = await Promise.all(shippedBases().map((name) => findBase(name)));
  const made = bases.flatMap((base) =>
    base !== null && existsSync(base.folder) ? [base.name] : [],
  );
  const found = made.length === 0 ? "none made yet" : `made: ${made.join(", ")}`;
  return good("bases", `${found}; kept in ${placeOfBases()}`);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** What `agentrl doctor` adds to the result of a device's test; null: nothing. */
export async function deviceAdvice(device: DeviceName, works: boolean): Promise<string | null> {
  if (device === "cuda") {
    const info = await runtimeInfo().catch(() => null);
    return info === null ? null : providerBuild(info.version);
  }
  if (device !== "webgpu" || works || process.platform !== "linux") return null;
  return vulkanAdvice(process.env);
}

/** Where the loader and the manifests of Vulkan's drivers are installed. */
const LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]; // prettier-ignore
const MANIFESTS = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/**
 * What Vulkan lacks on Linux, as far as files and variables tell; null: they tell nothing.
 * @param root for tests: the folder that stands for /.
 */
export function vulkanAdvice(
  env: Readonly<Record<string, string | undefined>>,
  root = "/",
): string | null {
  const places = [...(env["LD_LIBRARY_PATH"] ?? "").split(":").filter(Boolean), ...LIBRARIES];
  if (!places.some((folder) => existsSync(join(root, folder, "libvulkan.so.1"))))
    return "libvulkan.so.1 was not found: install Vulkan's loader (Debian, Ubuntu: libvulkan1)";
  const has = (env["NVIDIA_DRIVER_CAPABILITIES"] ?? "").split(",").map((each) => each.trim());
  const isNvidia = existsSync(join(root, "dev/nvidiactl"));
  if (isNvidia && has.join() !== "" && !has.includes("graphics") && !has.includes("all"))
    return `the container sees the card for ${has.join(",")} alone: start it with NVIDIA_DRIVER_CAPABILITIES=all, or with graphics among its values`;
  const named = [env["VK_DRIVER_FILES"], env["VK_ICD_FILENAMES"]].find((each) => each);
  const manifests =
    named?.split(":").filter((path) => existsSync(join(root, path))) ??
    MANIFESTS.flatMap((folder) => jsonFiles(join(root, folder)));
  if (manifests.length > 0) return null;
  return named === undefined
    ? "no driver's manifest was found in /usr/share/vulkan/icd.d or /etc/vulkan/icd.d: install the card's Vulkan driver, or name its manifest in VK_DRIVER_FILES"
    : `VK_DRIVER_FILES names no file that exists (${named})`;
}

function jsonFiles(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
}
