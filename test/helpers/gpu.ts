import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe } from "vitest";
import { probeDevice } from "../../src/onnx/device-probe.ts";

const probe = await probeDevice("webgpu");

/**
 * A suite of tests that run graphs on WebGPU: on a graphics card, or on the software Vulkan device of vitest.config.ts. A child process
 * has tried the device, because a driver's file may lie there without the library that loads it. Where none works the suite is
 * skipped, with the reason in its title.
 */
export function describeOnGpu(title: string, suite: () => void): void {
  if (probe.works) describe(title, suite);
  else describe.skip(`${title} (skipped: ${probe.why})`, suite);
}

/** Whether the GPU computes with float16, tried in a child process as well. */
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
