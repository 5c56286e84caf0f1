import type { Command } from "commander";
import type { CliContext } from "../command.ts";

/** Adds `show` to `agentrl trace`. */
export function addTraceShow(_parent: Command, _context: CliContext): void {
  // Follows.
}
