import { homedir } from "node:os";
import { join } from "node:path";

/** The user's cache, which all commands share: XDG_CACHE_HOME/agentrl, or ~/.cache/agentrl. */
export function userCache(): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "agentrl");
}
