import { packageVersion } from "../base/package-root.ts";
import { writeAtomic } from "../base/files.ts";
import { quoted } from "../base/format.ts";
import type { Document, Made } from "../view/document.ts";

/** Day, version and command line for the header of a page. */
export function madeBy(): Made {
  const command = ["agentrl", ...process.argv.slice(2)].map(quoted).join(" ");
  return { version: packageVersion(), date: new Date().toISOString().slice(0, 10), command };
}

/** Writes a document as a page that says how it was made. */
export async function writePage(
  path: string,
  document: Document,
  signal?: AbortSignal,
): Promise<void> {
  const { documentPage } = await import("../view/html/page.ts");
  await writeAtomic(path, async (write) => {
    for await (const piece of documentPage(document, madeBy())) {
      signal?.throwIfAborted();
      await write(piece);
    }
  });
}
