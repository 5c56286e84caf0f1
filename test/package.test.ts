import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../src/base/package-root.ts";

const read = (path: string): string => readFileSync(join(packageRoot, path), "utf8");
const page = JSON.parse(read("package.json")) as { files: string[] };

/** Whether `npm pack` takes a file; README, LICENSE and package.json it takes by itself. */
const isPacked = (path: string): boolean =>
  ["README.md", "LICENSE", "package.json", ...page.files].some(
    (each) => path === each || path.startsWith(`${each}/`),
  );

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: packageRoot, encoding: "utf8" })
  .split("\0")
  .filter((path) => path !== "" && existsSync(join(packageRoot, path)));

/** Markdown without code, in which brackets are no links. */
function withoutCode(text: string): string {
  return text.replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): Set<string> {
  const headings = read(path).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .replaceAll(/\]\([^)]*\)/g, "")
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

describe("the package", () => {
  it("has every page and heading that README and docs link to", () => {
    const pages = tracked.filter((path) => path.endsWith(".md") && isPacked(path));
    expect(pages.length).toBeGreaterThan(35);
    const dead = pages.flatMap((from) =>
      [...withoutCode(read(from)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
        if (/^(https?:|mailto:)/.test(link)) return [];
        const [path = "", anchor] = link.split("#");
        const to = path === "" ? from : normalize(join(dirname(from), path));
        const isThere = isPacked(to) && existsSync(join(packageRoot, to));
        return isThere && (anchor === undefined || anchorsOf(to).has(anchor))
          ? []
          : [`${from}: ${link}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  it("has every page that messages, help, recipes and comments name", () => {
    const texts = tracked.filter((path) =>
      /^(src|recipes|templates|examples|scripts|bench|datasets|docs|CHANGELOG|README)/.test(path),
    );
    const named = texts.flatMap((from) =>
      [...read(from).matchAll(/\bdocs\/[\w/-]+\.(?:md|json|svg)\b/g)].map(([to]) => ({ from, to })),
    );
    expect(named.length).toBeGreaterThan(50);
    const dead = named.filter(({ to }) => !existsSync(join(packageRoot, to)));
    expect(dead).toEqual([]);
  });

  it("has an index that names every page of docs", () => {
    const index = read("docs/README.md");
    const pages = tracked.filter((path) => /^docs\/[\w-]+\.md$/.test(path));
    const names = pages.map((path) => path.slice("docs/".length));
    expect(names.filter((name) => name !== "README.md" && !index.includes(`](${name})`))).toEqual(
      [],
    );
  });

  it("has an architecture page with the folders and floors that lint enforces", () => {
    const [, list = ""] = /const layers = \[\n([^]*?)\n\];/.exec(read("eslint.config.js")) ?? [];
    const floors = list
      .split("\n")
      .flatMap((line, floor) =>
        [...line.matchAll(/"(\w+)"/g)].map(([, name]) => `${floor} ${name}`),
      );
    const rows = read("docs/architecture.md").matchAll(/^\| (\d+) \| `(\w+)` \|/gm);
    const shown = [...rows].map(([, floor, name]) => `${floor} ${name}`);
    expect(floors.length).toBeGreaterThan(20);
    expect(shown.sort()).toEqual(floors.sort());
  });

  it("is installed without the install script of onnxruntime-node, in the clone by its lock file", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<string, { resolved?: string; hasInstallScript?: boolean }>;
    };
    expect(packages["node_modules/onnxruntime-node"]?.hasInstallScript).toBeUndefined();
    expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
    expect(existsSync(join(packageRoot, ".npmrc"))).toBe(false);
  });

  it("names no registry's host", () => {
    // Written in parts, so that this file does not.
    const hosts = ["npmjs", "npmmirror", "yarnpkg", "pypi", "pythonhosted", "download.pytorch"];
    const named = new RegExp(`(${hosts.join("|")})\\.(org|com)`);
    expect(tracked.filter((path) => named.test(read(path)))).toEqual([]);
  });
});
