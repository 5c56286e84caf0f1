import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const binary = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");

export interface StartedServe<Line> {
  /** What --json printed. */
  line: Line;
  child: ChildProcess;
  /** Exit status and everything on stderr, once it has ended. */
  ended: Promise<{ status: number | null; stderr: string }>;
}

/** Starts the real `agentrl serve` on a free port, until the test ends. */
export async function startServe<Line>(
  args: readonly string[],
  options: { cwd?: string } = {},
): Promise<StartedServe<Line>> {
  const child = spawn(process.execPath, [binary, "serve", ...args, "--port", "0", "--json"], {
    ...options,
    env: { ...process.env, SERVE_TEST_TOKEN: "s3cret", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<{ status: number | null; stderr: string }>((resolve) => {
    child.on("close", (status) => {
      resolve({ status, stderr });
    });
  });
  const text = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (piece: Buffer) => {
      resolve(piece.toString());
    });
    void ended.then(({ stderr: said }) => {
      reject(new Error(said));
    });
  });
  return { line: JSON.parse(text) as Line, child, ended };
}
