import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { providerBuild } from "../onnx/cuda-provider.ts";
import type { DeviceName } from "../onnx/device-names.ts";
import { runtimeInfo } from "../onnx/runtime-info.ts";

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
