import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../base/package-root.ts";

/** Folders of the package that no number of a run depends on. */
const SHOWING: ReadonlySet<string> = new Set(["cli", "view", "server", "exports", "experiment"]);

/** Hash of the code that decides the numbers of a run: the package's modules but for those that only show, serve or judge. */
export async function codeHash(): Promise<string> {
  const root = join(import.meta.dirname, "..");
  const hash = createHash("sha256");
  const folders = (await readdir(root, { withFileTypes: true })).filter(
    (each) => each.isDirectory() && !SHOWING.has(each.name),
  );
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const files = await readdir(join(root, name), { recursive: true });
    for (const file of files.filter((each) => /(?<!\.d)\.[jt]s$/.test(each)).sort())
      hash.update(`${name}/${file}\n`).update(await readFile(join(root, name, file)));
  }
  return hash.digest("hex").slice(0, 12);
}

/** The commit of the checkout that runs; null for an installed package. */
export async function commitHere(): Promise<string | null> {
  if (!existsSync(join(packageRoot, ".git"))) return null;
  return new Promise((found) => {
    execFile("git", ["rev-parse", "HEAD"], { cwd: packageRoot }, (error, stdout) => {
      found(error === null ? stdout.trim() : null);
    });
  });
}
