import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import { ConfigError } from "./errors.ts";

/** The runtime's own switch, read once at the first session. Without it, a device id is written and events are sent to its maker. */
const SWITCH = "ORT_DISABLE_TELEMETRY";

// Every module that leads to a session imports this one. A worker only has a copy of the environment, hence the main thread's mark.
if (isMainThread) {
  process.env[SWITCH] = "1";
  setEnvironmentData(SWITCH, "1");
}

/** @throws {ConfigError} RUNTIME_TELEMETRY in a worker thread of a program whose main thread did not switch the telemetry off. */
export function requireTelemetryOff(): void {
  if (getEnvironmentData(SWITCH) === "1" || realVariable(SWITCH) === "1") return;
  const message = `this worker thread would load onnxruntime-node with its telemetry on: a worker cannot change the environment of its process. Add \`import "agentrl"\` to the main thread, or start the program with ${SWITCH}=1.`;
  throw new ConfigError("RUNTIME_TELEMETRY", message);
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
