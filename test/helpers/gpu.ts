import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { probeDevice } from "../../src/onnx/device-probe.ts";

/**
 * Whether graphs can run on WebGPU here: on a graphics card, or on the software Vulkan device that vitest.config.ts points to. Where
 * the environment names a Vulkan driver, tests must not be skipped: a device that does not open is then an error.
 */
export async function gpuIsThere(): Promise<boolean> {
  const probe = await probeDevice("webgpu");
  if (!probe.works && process.env["VK_ICD_FILENAMES"] !== undefined) throw new Error(probe.why);
  return probe.works;
}

/** Whether WebGPU computes with float16 here; asked in a process of its own, as `gpuIsThere` asks. */
export async function gpuHasFloat16(): Promise<boolean> {
  const module = new URL("../../dist/onnx/device.js", import.meta.url).href;
  const code = `const { openDevice } = await import(${JSON.stringify(module)}); await openDevice("webgpu", 1).zeros([1], "float16");`;
  try {
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
    return true;
  } catch {
    return false;
  }
}
