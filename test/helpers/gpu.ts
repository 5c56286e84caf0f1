import { openDevice } from "../../src/onnx/device.ts";

/**
 * Whether graphs can run on WebGPU here: on a graphics card, or on the software Vulkan device that vitest.config.ts points to. Where
 * the environment names a Vulkan driver, tests must not be skipped: a device that does not open is then an error.
 */
export async function gpuIsThere(): Promise<boolean> {
  try {
    await openDevice("webgpu", 1).zeros([1]);
    return true;
  } catch (error) {
    if (process.env["VK_ICD_FILENAMES"] !== undefined) throw error;
    return false;
  }
}
