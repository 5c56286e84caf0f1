import { errorMessage, ExternalError } from "../base/errors.ts";

/** What the installed runtime can run on. */
export interface RuntimeInfo {
  version: string;
  /** Execution providers, and whether the package brings their libraries. */
  providers: { name: string; bundled: boolean }[];
}

/**
 * Loads the runtime and asks it.
 * @throws {ExternalError} RUNTIME_MISSING when its native library does not load on this machine.
 */
export async function runtimeInfo(): Promise<RuntimeInfo> {
  try {
    const { env, listSupportedBackends } = await import("onnxruntime-node");
    return {
      version: env.versions.node ?? env.versions.common,
      providers: listSupportedBackends().map(({ name, bundled }) => ({ name, bundled })),
    };
  } catch (error) {
    throw new ExternalError(
      "RUNTIME_MISSING",
      `onnxruntime-node does not load (${errorMessage(error)}). It has builds for Linux and Windows on x64 and arm64 and for macOS on arm64; \`npm ci\` in a fresh folder installs it again.`,
      { cause: error },
    );
  }
}
