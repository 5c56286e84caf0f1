import { existsSync } from "node:fs";
import { join } from "node:path";
import { cachedHubModel } from "../hub/hub-model.ts";
import { hubSettings, parseHubName } from "../hub/hub-cache.ts";
import { loadTokenizer, makeTokenizer, type Tokenizer } from "../text/tokenizer.ts";
import { findBase, folderOfName } from "./bases.ts";
import { freshTokenizer } from "./fresh-policy.ts";
import type { Settings } from "./settings/settings-schema.ts";
import { stageList } from "./settings/stages.ts";

/**
 * The tokenizer of a recipe's policy, which needs not exist: fresh weights and bases have the tokenizer that they will be made with.
 * @returns null for a server's policy, and for a model that is not on this machine. Nothing is downloaded or made.
 * @throws {DataError} as `loadTokenizer`.
 */
export async function policyTokenizer(settings: Settings): Promise<Tokenizer | null> {
  const { policy, environment, stages = [] } = settings;
  if (policy.endpoint !== undefined || policy.predictions !== undefined) return null;
  const isFresh = stageList(stages).some(({ set }) => set["policy.fresh"] !== undefined);
  if (policy.fresh !== undefined || isFresh) {
    const { tokenizer, config } = freshTokenizer(environment);
    return makeTokenizer(tokenizer, config, "policy.fresh");
  }
  const base = await findBase(policy.from);
  if (base !== null) return policyTokenizer(base.resolved.settings);
  const hub = existsSync(policy.from) ? null : parseHubName(policy.from);
  const folder =
    (hub === null ? null : await cachedHubModel(hub, hubSettings())) ??
    (await folderOfName(policy.from));
  return existsSync(join(folder, "tokenizer.json")) ? loadTokenizer(folder) : null;
}
