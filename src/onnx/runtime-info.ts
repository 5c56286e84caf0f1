import { errorMessage, ExternalError } from "../base/errors.ts";

/** Version and execution providers of the installed runtime. */
export interface RuntimeInfo {
  version: string;
  /** Execution providers, and whether the package includes their libraries. */
  providers: { name: string; bundled: boolean }[];
}

/**
 * Loads the runtime and reads its properties.
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
      `onnxruntime-node does not load (${errorMessage(error)}). Builds exist for Linux and Windows on x64 and arm64 and for macOS on arm64; reinstall it with \`npm ci\` in a new folder.`,
      { cause: error },
    );
  }
}
