import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { errorMessage } from "../base/errors.ts";
import { missingDevice } from "./device-absence.ts";
import type { DeviceName } from "./device-names.ts";

/** Whether a device works on this machine, and its float32 matrix-product speed. */
export type DeviceProbe = { works: true; gflops: number } | { works: false; why: string };

/** Timeout of a probe: the first use may compile a driver's shaders. */
const PATIENCE_MS = 60_000;

/** Path of the compiled child; tests that run from the sources use the build as well. */
const entry = fileURLToPath(
  new URL("./device-probe-child.js", import.meta.url.replace(/\/src\/(onnx\/[^/]*)$/, "/dist/$1")),
);

/** Tests a device in a process of its own: native libraries print freely, and a driver may crash the process. */
export async function probeDevice(device: DeviceName): Promise<DeviceProbe> {
  try {
    const options = { timeout: PATIENCE_MS };
    const { stdout } = await promisify(execFile)(process.execPath, [entry, device], options);
    return JSON.parse(stdout) as DeviceProbe;
  } catch (error) {
    return { works: false, why: `the probe ended without an answer (${errorMessage(error)})` };
  }
}

/** @throws {ExternalError} DEVICE_MISSING where it does not work on this machine. */
export async function requireDevice(device: DeviceName): Promise<void> {
  const probe = await probeDevice(device);
  if (!probe.works) throw missingDevice(device, probe.why);
}

/** Models with fewer parameters always use the CPU: on a GPU, kernel launches would take longer than the computation. */
export const WORTH_A_GPU = 20_000_000;

/**
 * The device for `auto`: the CPU for a small model; else WebGPU if its products are at least twice as fast as the CPU's, which
 * excludes software devices.
 */
export async function fastestDevice(parameters: number): Promise<DeviceName> {
  if (parameters < WORTH_A_GPU) return "cpu";
  const webgpu = await probeDevice("webgpu");
  if (!webgpu.works) return "cpu";
  const cpu = await probeDevice("cpu");
  return cpu.works && webgpu.gflops > 2 * cpu.gflops ? "webgpu" : "cpu";
}
