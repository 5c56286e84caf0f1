// Makes `npx agentrl` work inside a clone: npm links the binaries of dependencies, not the project's own.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "node_modules", ".bin");
if (existsSync(join(folder, ".."))) {
  mkdirSync(folder, { recursive: true });
  const link = join(folder, "agentrl");
  rmSync(link, { force: true });
  if (process.platform === "win32") {
    writeFileSync(`${link}.cmd`, '@node "%~dp0\\..\\..\\bin\\agentrl.js" %*\r\n');
  } else {
    symlinkSync("../../bin/agentrl.js", link);
  }
}
