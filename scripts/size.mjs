// Lines per folder of src/ (blank and comment lines not counted) against scripts/size-budgets.json.
// Raising a budget is a reviewed line; generated folders are left out.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const { budgets, generated } = JSON.parse(
  readFileSync(join(root, "scripts", "size-budgets.json"), "utf8"),
);

const sizes = new Map();
for (const entry of readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const inside = path.slice(join(root, "src").length + 1).replaceAll("\\", "/");
  if (generated.some((folder) => inside.startsWith(`${folder}/`))) continue;
  const folder = inside.split("/")[0];
  const size = sizes.get(folder) ?? { files: 0, lines: 0 };
  size.files += 1;
  size.lines += codeLines(readFileSync(path, "utf8"));
  sizes.set(folder, size);
}

let failed = false;
console.log(row("folder", "files", "lines", "budget"));
for (const [folder, { files, lines }] of [...sizes].sort(([a], [b]) => a.localeCompare(b))) {
  const budget = budgets[folder];
  const over = budget === undefined || lines > budget;
  failed ||= over;
  const remark = budget === undefined ? "  no budget" : over ? "  over" : "";
  console.log(row(folder, files, lines, budget ?? "") + remark);
}
const total = [...sizes.values()].reduce((sum, { lines }) => sum + lines, 0);
const files = [...sizes.values()].reduce((sum, size) => sum + size.files, 0);
console.log(row("all", files, total, ""));
if (failed) {
  console.error(
    "A folder is over its budget in scripts/size-budgets.json: split, simplify, or raise it in review.",
  );
  process.exitCode = 1;
}

function codeLines(text) {
  const withoutBlocks = text.replace(/^\s*\/\*[^]*?\*\/\s*$/gm, "");
  return withoutBlocks.split("\n").filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

function row(folder, files, lines, budget) {
  const cells = [files, lines, budget].map((cell) => String(cell).padStart(8));
  return (folder.padEnd(12) + cells.join("")).trimEnd();
}
