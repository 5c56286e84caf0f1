import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { errorMessage } from "../base/errors.ts";
import type { DeviceName } from "./device-names.ts";

/** Whether a device works here, and how fast it multiplies float32 matrices. */
export type DeviceProbe = { works: true; gflops: number } | { works: false; why: string };

/** How long a device may take to answer: a first use can compile a driver's shaders. */
const PATIENCE_MS = 60_000;

/** Runs compiled code: from the sources (tests), the build beside them is used. */
const entry = fileURLToPath(
  new URL("./device-probe-child.js", import.meta.url.replace(/\/src\/(onnx\/[^/]*)$/, "/dist/$1")),
);

/** Tries a device in a process of its own: native libraries print what they like, and a driver may take its process with it. */
export async function probeDevice(device: DeviceName): Promise<DeviceProbe> {
  try {
    const options = { timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [entry, device], options);
    return JSON.parse(stdout) as DeviceProbe;
  } catch (error) {
    return { works: false, why: `the trial ended without an answer (${errorMessage(error)})` };
  }
}

/** Parameters below which a GPU is not asked: its kernels would wait for each other longer than they compute. */
export const WORTH_A_GPU = 20_000_000;

/**
 * What `auto` means for a model: the processor for a small one; else WebGPU where that multiplies at least twice as fast, which a
 * software device does not.
 */
export async function fastestDevice(parameters: number): Promise<DeviceName> {
  if (parameters < WORTH_A_GPU) return "cpu";
  const webgpu = await probeDevice("webgpu");
  if (!webgpu.works) return "cpu";
  const cpu = await probeDevice("cpu");
  return cpu.works && webgpu.gflops > 2 * cpu.gflops ? "webgpu" : "cpu";
}
