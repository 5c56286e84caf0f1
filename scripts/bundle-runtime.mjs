// Before and after `npm pack`: the package bundles onnxruntime-node without its install script (docs/adr/0013-bundled-runtime.md). npm takes
// the bundled package's page from node_modules, so `strip` puts one without scripts there, and `restore` puts the original back.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const modules = join(import.meta.dirname, "..", "node_modules");
const page = join(modules, "onnxruntime-node", "package.json");
/** The original, outside the package; it is still here after a pack that was killed. */
const kept = join(modules, ".onnxruntime-node.package.json");

if (process.argv[2] === "strip") {
  if (!existsSync(kept)) renameSync(page, kept);
  const packed = JSON.parse(readFileSync(kept, "utf8"));
  delete packed.scripts;
  // Only the install script uses these two, and it stays behind with them.
  delete packed.dependencies["adm-zip"];
  delete packed.dependencies["global-agent"];
  writeFileSync(page, `${JSON.stringify({ ...packed, files: ["bin", "dist", "lib"] }, null, 2)}\n`);
} else if (existsSync(kept)) {
  rmSync(page, { force: true });
  renameSync(kept, page);
}
