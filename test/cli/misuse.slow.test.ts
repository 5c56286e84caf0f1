import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

/** The table of this test: commands with a mistake, and what they must say. */
const page = readFileSync(join(import.meta.dirname, "misuse.md"), "utf8");
const cwd = temporaryFolder();
const files = [...page.matchAll(/^\| `([^`]+)` \| `([^`]*)` \|$/gm)].map(
  ([, name = "", content = ""]) => [join(cwd, name), content.replaceAll("\\n", "\n")] as const,
);
const rows = [...page.matchAll(/^\| `([^`]+)` \| (\d) `(\w+)` \| `([^`]+)` \|$/gm)].map(
  ([, command = "", status, code = "", text = ""]) => ({
    command,
    status: Number(status),
    code,
    text,
  }),
);
const words = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

/** Every file of the folder with its bytes. */
function contents(): Record<string, string> {
  const names = readdirSync(cwd, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "latin1")]));
}

describe("a mistake", () => {
  for (const [path, content] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const env = { HF_HUB_OFFLINE: "1", AGENTRL_DATA: join(cwd, "no-datasets") };

  it("is tried many times", () => {
    expect(files.length).toBeGreaterThan(8);
    expect(rows.length).toBeGreaterThan(60);
  });

  it.skipIf(process.platform !== "linux").each(rows)(
    "$command → $status $code",
    async ({ command, ...said }) => {
      const before = contents();
      const { stderr, status } = await runCli(words(command), { cwd, env });
      expect({ status, stderr }).toEqual({
        status: said.status,
        stderr: expect.stringContaining(`[${said.code}]`) as string,
      });
      expect(stderr.replaceAll(`${cwd}/`, "")).toContain(said.text);
      expect(contents()).toMatchObject(before);
    },
  );
});
