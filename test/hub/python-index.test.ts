import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { devNull } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { downloadWheel, pythonIndex } from "../../src/hub/python-index.ts";
import { errorWith } from "../helpers/error-with.ts";
import { type LocalServer, localServer } from "../helpers/local-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const content = Buffer.from("a wheel's bytes");
const wheel = {
  project: "a-project",
  file: "a_project-1.0-py3-none-any.whl",
  sha256: createHash("sha256").update(content).digest("hex"),
  bytes: content.length,
};
const patience = { timeoutMs: 2000, retries: 1, retryDelayMs: 1 };
let server: LocalServer;
/** What the server sends now. */
const now = { page: "", status: 200, file: content, fileStatus: 200 };

beforeAll(async () => {
  server = await localServer(({ url }, response) => {
    if (url === "/simple/a-project/") response.writeHead(now.status).end(now.page);
    else response.writeHead(now.fileStatus, { "content-length": now.file.length }).end(now.file);
  });
});
beforeEach(() => {
  const files = [
    { filename: "other.whl", url: "/other" },
    { filename: wheel.file, url: "../../files/it.whl" },
  ];
  Object.assign(now, {
    page: JSON.stringify({ files }),
    status: 200,
    file: content,
    fileStatus: 200,
  });
  server.received.length = 0;
});

let count = 0;
async function download(): Promise<string> {
  const path = join(folder, String(count++), wheel.file);
  await downloadWheel(wheel, path, { index: `${server.url}/simple`, patience });
  return path;
}
const refused = (code: "WHEEL_UNREACHABLE" | "WHEEL_CHECKSUM", message: string): Promise<void> =>
  expect(download()).rejects.toThrow(errorWith(code, message));

describe("downloadWheel", () => {
  it("finds the wheel in an index's JSON, and verifies it", async () => {
    expect(await readFile(await download(), "utf8")).toBe("a wheel's bytes");
    expect(server.received.map(({ url }) => url)).toEqual(["/simple/a-project/", "/files/it.whl"]);
    expect(server.received[0]?.headers.accept).toContain("application/vnd.pypi.simple.v1+json");
  });

  it("finds it in the HTML of an older index", async () => {
    now.page = `<html><a href="/x#sha256=1">other.whl</a><br>
      <a class="w" href="/files/a.whl?x=1&amp;y=2#sha256=2" data-requires-python="&gt;=3">${wheel.file}</a></html>`;
    await download();
    expect(server.received.at(-1)?.url).toBe("/files/a.whl?x=1&y=2");
  });

  it("says what is wrong with the index or the file", async () => {
    now.file = Buffer.from("a wheel's BYTES");
    await refused(
      "WHEEL_CHECKSUM",
      `${wheel.file}: ${new URL(server.url).host} sent it twice with the wrong content`,
    );
    now.fileStatus = 403;
    await refused("WHEEL_UNREACHABLE", "refuses with status 403. Set PIP_INDEX_URL");
    now.page = JSON.stringify({ files: [] });
    await refused("WHEEL_UNREACHABLE", `${server.url}/simple does not list it`);
    now.page = "{ broken";
    await refused("WHEEL_UNREACHABLE", "does not list it");
    now.status = 404;
    await refused("WHEEL_UNREACHABLE", `${server.url}/simple answers with status 404`);
    now.status = 503;
    await refused("WHEEL_UNREACHABLE", "cannot be reached: status 503");
  });

  it("takes the index from pip's and uv's variables, without a password", () => {
    expect(
      pythonIndex({ PIP_INDEX_URL: "https://mirror/simple/", UV_INDEX_URL: "https://b/simple" }),
    ).toBe("https://mirror/simple");
    expect(pythonIndex({ UV_DEFAULT_INDEX: "https://b/simple" })).toBe("https://b/simple");
    const secret = (): string => pythonIndex({ PIP_INDEX_URL: "https://me:secret@mirror/simple" });
    expect(secret).toThrow(
      errorWith("RECIPE_BAD_VALUE", /^(?!.*secret@).*PIP_INDEX_URL.*password/),
    );
  });

  it("takes the index from pip's configuration, in pip's order, and asks no index that nobody named", async () => {
    const file = async (name: string, text: string): Promise<string> => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    };
    const XDG_CONFIG_HOME = join(folder, "user");
    const XDG_CONFIG_DIRS = join(folder, "machine");
    const VIRTUAL_ENV = join(folder, "venv");
    const none = { XDG_CONFIG_HOME, XDG_CONFIG_DIRS };
    const PIP_CONFIG_FILE = await file("own.conf", "[global]\ntimeout = 3\n");
    if (process.platform === "linux") {
      await file("machine/pip/pip.conf", "[global]\nindex-url = https://machine/simple\n");
      expect(pythonIndex(none)).toBe("https://machine/simple");
      await file("user/pip/pip.conf", "# of the user\n[global]\nindex_url: https://user/simple/\n");
      expect(pythonIndex(none)).toBe("https://user/simple");
      await file(
        "venv/pip.conf",
        "[list]\nindex-url = https://list\n[global]\nindex-url=https://venv\n",
      );
      expect(pythonIndex({ ...none, VIRTUAL_ENV })).toBe("https://venv");
      await file("machine/pip/pip.conf", "[download]\nindex-url = https://downloads\n");
      expect(pythonIndex({ ...none, VIRTUAL_ENV, PIP_CONFIG_FILE })).toBe("https://downloads");
    }
    await file("own.conf", "[download]\nindex-url = https://own/simple\n");
    expect(pythonIndex({ ...none, VIRTUAL_ENV, PIP_CONFIG_FILE })).toBe("https://own/simple");
    expect(() => pythonIndex({ PIP_CONFIG_FILE: devNull })).toThrow(
      errorWith("WHEEL_UNREACHABLE", /no Python package index is set\. Set PIP_INDEX_URL/),
    );
    await file("own.conf", "[global]\nindex-url = https://me:secret@mirror\n");
    expect(() => pythonIndex({ PIP_CONFIG_FILE })).toThrow(
      errorWith("RECIPE_BAD_VALUE", /^(?!.*secret@).*own\.conf: index-url.*password/),
    );
  });
});
