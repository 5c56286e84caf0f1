/** Devices, by the names of the runtime's execution providers. */
export const deviceNames = ["cpu", "webgpu", "cuda", "coreml", "dml"] as const;
export type DeviceName = (typeof deviceNames)[number];
