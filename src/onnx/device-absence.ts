import { ExternalError } from "../base/errors.ts";
import type { DeviceName } from "./device-names.ts";

/** Documentation that messages name. */
const DOCS = "docs/devices.md";

/** Patterns in the runtime's messages (paths and stack traces) that mean "device not available"; the first one counts. */
const ABSENCES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/RequestAdapter/, () => "no graphics card with a Vulkan, Metal or Direct3D 12 driver was found"],
  [
    /(libcuda\.so\S*): cannot open/,
    (name) =>
      `${name} was not found: it belongs to NVIDIA's driver, which a container sees with --gpus all (${DOCS})`,
  ],
  [
    /(lib\w+\.so\S*): cannot open/,
    (name) =>
      `${name} was not found: put the folder of CUDA's libraries into LD_LIBRARY_PATH before the command (${DOCS})`,
  ],
  [
    /CUDA failure (\d+: [^;\n]*)/,
    (failure) => `CUDA failure ${failure.trim()}: check the card and its driver with nvidia-smi`,
  ],
  [/Failed to load/, () => `its provider's library does not load (${DOCS})`],
];

/** What a message of the runtime says about an absent device; null: it is about something else. */
export function absenceIn(message: string): string | null {
  for (const [sign, say] of ABSENCES) {
    const match = sign.exec(message);
    if (match !== null) return say(match[1] ?? "");
  }
  return null;
}

export function missingDevice(device: DeviceName, why: string, cause?: unknown): ExternalError {
  return new ExternalError(
    "DEVICE_MISSING",
    `device "${device}": ${why}. Choose another; \`agentrl doctor\` tests each device.`,
    { cause },
  );
}
