import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sha256, sha256File } from "../../base/files.ts";
import { declarationsIn } from "../../base/schema.ts";
import { baseFolder, policyFolder } from "../../run/assemble.ts";
import type { PolicyOptions } from "../../run/bases.ts";
import { hashOfPolicy } from "../../run/folder/policy-hash.ts";
import { type Settings, settingsSchema } from "../../run/settings/settings-schema.ts";

/** Checksums of what settings only name: the policy, and every file or folder. */
export type ArmInputs = (settings: Settings) => Promise<Record<string, string>>;

/** Reads each policy and file once, however many arms name it. Policies that are not here are downloaded or made. */
export function openArmInputs(download: PolicyOptions = {}): ArmInputs {
  const known = new Map<string, Promise<string>>();
  const once = (name: string, read: () => Promise<string>): Promise<string> => {
    const found = known.get(name) ?? read();
    known.set(name, found);
    return found;
  };
  return async (settings) => {
    const { fresh, endpoint, predictions } = settings.policy;
    const asksModel = fresh === undefined && endpoint === undefined && predictions === undefined;
    const inputs: Record<string, string> = {};
    for (const { path, value, meta } of declarationsIn(settingsSchema, settings)) {
      const key = path.join(".");
      if (typeof value !== "string") continue;
      if (meta["path"] === "model") {
        if (key === "policy.from" && !asksModel) continue;
        inputs[key] = await once(`policy ${value}`, () => policyHash(value, download));
      } else if (meta["path"] !== undefined && existsSync(value))
        inputs[key] ??= await once(value, () => contentHash(value));
    }
    return inputs;
  };
}

async function policyHash(from: string, download: PolicyOptions): Promise<string> {
  const folder = await policyFolder(from, download);
  return hashOfPolicy(folder, await baseFolder(folder, download));
}

/** Hash of a file, or of all files below a folder with their names. */
async function contentHash(path: string): Promise<string> {
  if (!statSync(path).isDirectory()) return sha256File(path);
  const parts: string[] = [];
  for (const name of (await readdir(path)).sort())
    parts.push(name, await contentHash(join(path, name)));
  return sha256(parts.join("\n"));
}
