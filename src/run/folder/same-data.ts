import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { fileNameOf, type Plugin, pluginsNamedIn } from "../../base/plugins.ts";
import type { HubModelOptions } from "../../hub/hub-model.ts";
import { baseFolder } from "../assemble.ts";
import { MANIFEST_FILE } from "./run-origin.ts";
import { hashOfPolicy } from "./policy-hash.ts";

/**
 * Compares the data of a resumed run with the data of its start.
 *
 * @param what it is, for the message: `samples`.
 * @param now by their names in the manifest, each with the file, folder or dataset that it comes from; null: none.
 * @throws {ConfigError} RUN_DATA_CHANGED
 */
export async function requireSameData(
  out: string,
  what: string,
  now: Readonly<Record<string, { file: string; sha256: string } | null>>,
): Promise<void> {
  const { hashes } = (await readJson(join(out, MANIFEST_FILE))) as {
    hashes?: Record<string, string>;
  };
  for (const [name, data] of Object.entries(now)) {
    const known = hashes?.[name];
    if (data === null || known === undefined || known === data.sha256) continue;
    throw new ConfigError(
      "RUN_DATA_CHANGED",
      `${out}: started with ${what} of sha256 ${known.slice(0, 12)}…, ${data.file} is now ${data.sha256.slice(0, 12)}…. Give the original data, or start a new run in another folder.`,
    );
  }
}

/** The plugins that a run's settings name, by their names in the manifest. */
export function pluginData(settings: unknown): Record<string, Plugin> {
  return Object.fromEntries(
    pluginsNamedIn(settings).map((each) => [`plugin ${fileNameOf(each)}`, each]),
  );
}

/**
 * The checksum of the policy that a run begins with, its adapters' base included.
 *
 * @param begun the folder of a run that is resumed or read again with this policy; null: a new run.
 * @throws {ConfigError} RUN_DATA_CHANGED
 */
export async function samePolicyHash(
  model: string,
  begun: string | null,
  download: HubModelOptions,
): Promise<string> {
  const sha256 = await hashOfPolicy(model, await baseFolder(model, download));
  if (begun !== null) await requireSameData(begun, "a policy", { policy: { file: model, sha256 } });
  return sha256;
}
