import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../src/base/files.ts";

/** Every file under a folder, as paths in it. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Changes a manifest and gives it the checksum of what it then says: what another version might have written. */
export async function editManifest(
  folder: string,
  edit: (manifest: Record<string, unknown>) => void,
): Promise<void> {
  const path = join(folder, "manifest.json");
  const { checksum: _, ...manifest } = JSON.parse(await readFile(path, "utf8")) as Record<
    string,
    unknown
  >;
  edit(manifest);
  const checksum = sha256(JSON.stringify(manifest));
  await writeFile(path, `${JSON.stringify({ ...manifest, checksum }, null, 2)}\n`);
}
