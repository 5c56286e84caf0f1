import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { MANIFEST_FILE } from "./file-names.ts";

/**
 * Holds what a run that goes on is made of against what it began with.
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
      `${out}: began with ${what} of sha256 ${known.slice(0, 12)}…, ${data.file} is now ${data.sha256.slice(0, 12)}…. Give what it began with, or begin anew in another folder.`,
    );
  }
}
