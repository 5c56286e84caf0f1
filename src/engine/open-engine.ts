import type { PolicyEngine } from "./engine.ts";
import { type LocalEngineOptions, openLocalEngine } from "./local/local-engine.ts";

/** Options of every engine. */
export type PolicyEngineOptions = LocalEngineOptions;

/**
 * Opens an engine. Its users see the interface alone; `capabilities` tell what an engine can do.
 * @throws as `openLocalEngine`.
 */
export function openPolicyEngine(options: PolicyEngineOptions): Promise<PolicyEngine> {
  return openLocalEngine(options);
}
