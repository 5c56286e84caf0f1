import { join } from "node:path";
import { type HubAccess, hubAccess, hubHome, variables } from "../http/hub-access.ts";

/** Where models come from and where they are kept. */
export interface HubSettings extends HubAccess {
  /** Folder that holds `models--org--name/`. */
  cache: string;
}

/**
 * Settings by Hugging Face's environment variables: `hubAccess`, and HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME for
 * the cache (by default ~/.cache/huggingface/hub, shared with Hugging Face's own programs).
 *
 * @throws {ConfigError} as `hubAccess`.
 */
export function hubSettings(environment: NodeJS.ProcessEnv = process.env): HubSettings {
  const value = variables(environment);
  const cache = value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE");
  return { ...hubAccess(environment), cache: cache ?? join(hubHome(environment), "hub") };
}
