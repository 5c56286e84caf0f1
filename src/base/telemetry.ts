import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import { ConfigError } from "./errors.ts";

/**
 * The runtime's own switch. Without it, the first session writes a device id and a queue of events into the user's cache and sends them to
 * the runtime's maker. The native library reads the variable once, when the process makes its first session.
 */
const SWITCH = "ORT_DISABLE_TELEMETRY";

// Importing this module switches the telemetry off, and every module that leads to a session imports it. A worker thread only has a copy of
// the environment, which the native library does not see, so the mark says that a main thread has set the real one.
if (isMainThread) {
  process.env[SWITCH] = "1";
  setEnvironmentData(SWITCH, "1");
}

/** @throws {ConfigError} RUNTIME_TELEMETRY in a worker thread of a program whose main thread did not switch the telemetry off. */
export function requireTelemetryOff(): void {
  if (getEnvironmentData(SWITCH) === "1" || realVariable(SWITCH) === "1") return;
  throw new ConfigError(
    "RUNTIME_TELEMETRY",
    `this worker thread would load onnxruntime-node with its telemetry on: a worker cannot change the environment of its process. Add \`import "agentrl"\` to the main thread, or start the program with ${SWITCH}=1.`,
  );
}

/** A variable of the process itself, of which `process.env` is a copy in a worker. */
function realVariable(name: string): string | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Else the report would look up the names of the addresses of open connections.
  report.excludeNetwork = true;
  const { environmentVariables } = report.getReport() as unknown as {
    environmentVariables: Record<string, string>;
  };
  return environmentVariables[name];
}

/** What `agentrl doctor` says about it. Windows has no such switch, and no sender either: only a trace that somebody starts there records events. */
export function telemetryState(): string {
  return process.platform === "win32"
    ? "sends nothing itself, and a trace of Windows can record its events"
    : "its telemetry is off";
}
