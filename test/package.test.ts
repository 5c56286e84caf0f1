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

describe("the package", () => {
  it("has every file that README and docs link to", () => {
    const pages = tracked.filter((path) => path.endsWith(".md") && isPacked(path));
    expect(pages.length).toBeGreaterThan(60);
    const dead = pages.flatMap((from) =>
      [...read(from).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
        if (/^(https?:|#|mailto:)/.test(link)) return [];
        const to = normalize(join(dirname(from), link.split("#")[0]!));
        return isPacked(to) && existsSync(join(packageRoot, to)) ? [] : [`${from}: ${link}`];
      }),
    );
    expect(dead).toEqual([]);
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
