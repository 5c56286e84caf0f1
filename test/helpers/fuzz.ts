import { expect } from "vitest";
import type { CliCommand } from "../../src/cli/command.ts";
import { ERROR_CODES } from "../../src/base/errors.ts";
import { runCommand } from "./run-command.ts";

/** Values that a damaged or hostile file may hold in place of another. */
export const ODD_VALUES: readonly unknown[] = [
  ...[null, true, "", "x", "Quux", [], {}, [[]], { a: 1 }, "9", "-1"],
  ...[0, -0, -1, 1.5, 1e9, 2 ** 31, 2 ** 32, 2 ** 53, 1e308, -1e308, 1e-308],
];

export interface FuzzedRun {
  status: number | null;
  /** The document on stdout. */
  json: Record<string, unknown>;
}

/** Seconds of processor time that a case may take: more is a hang. */
const LONGEST_SECONDS = 10;

/**
 * Runs a command with --json on a changed input, in this process. It ends well, or with a documented code, a place and a cure: never as a
 * bug, and never after a long time.
 */
export async function runFuzzed(
  command: CliCommand,
  args: readonly string[],
  about: string,
): Promise<FuzzedRun> {
  const before = process.cpuUsage();
  const { status, stdout, stderr } = await runCommand(command, [...args, "--json"]);
  const { user, system } = process.cpuUsage(before);
  const said = `${about}\n${stdout}\n${stderr}`;
  expect((user + system) / 1e6, said).toBeLessThan(LONGEST_SECONDS);
  expect(status, said).not.toBe(1);
  const json = JSON.parse(stdout) as Record<string, unknown>;
  if (status !== 0) {
    const [problem = json["error"]] = (json["problems"] ?? []) as unknown[];
    const { code, message } = problem as { code: string; message: string };
    expect(Object.keys(ERROR_CODES), said).toContain(code);
    expect(message.length, said).toBeGreaterThan(20);
  }
  return { status, json };
}
