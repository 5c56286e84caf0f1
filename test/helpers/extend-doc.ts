import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

const text = readFileSync(join(root, "docs", "extend.md"), "utf8");

/** The files of docs/extend.md: code blocks with their name in the line above. */
export const docFiles: ReadonlyMap<string, string> = new Map(
  [...text.matchAll(/^`([\w.-]+)`:\n\n```\w+\n(.*?)```$/gms)].map(([, name = "", content = ""]) => [
    name,
    content,
  ]),
);

/** The commands of its shell blocks, without those that install the package. */
export const docCommands: readonly string[] = [...text.matchAll(/^```sh\n(.*?)```$/gms)]
  .flatMap(([, block = ""]) => block.trim().split("\n"))
  .filter((line) => !/^np[mx] /.test(line));

/** Writes the files into a folder in which `agentrl` is installed. */
export function layDocFiles(folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "agentrl"));
  for (const [name, content] of docFiles) writeFileSync(join(folder, name), content);
}
