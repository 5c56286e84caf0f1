/** Devices, by the names of the runtime's execution providers. */
export const deviceNames = ["cpu", "webgpu", "cuda", "coreml", "dml"] as const;
export type DeviceName = (typeof deviceNames)[number];

/** Whether weights, gradients and caches stay in the device's own memory between runs (`Device.resident`). */
export function isResident(device: DeviceName): boolean {
  return device === "webgpu";
}
