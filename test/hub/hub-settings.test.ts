import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hubNameText, parseHubName, hubSettings } from "../../src/hub/hub-cache.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const home = temporaryFolder();

describe("hubSettings", () => {
  it("are Hugging Face's own where nothing is set", () => {
    expect(hubSettings({ HF_TOKEN_PATH: "/nowhere" })).toMatchObject({
      endpoint: "https://huggingface.co",
      cache: join(homedir(), ".cache", "huggingface", "hub"),
      token: null,
      offline: false,
    });
  });

  it("follow Hugging Face's variables, the more special ones first", () => {
    const cacheOf = (environment: NodeJS.ProcessEnv): string => hubSettings(environment).cache;
    expect(cacheOf({ XDG_CACHE_HOME: "/x" })).toBe("/x/huggingface/hub");
    expect(cacheOf({ XDG_CACHE_HOME: "/x", HF_HOME: "/h" })).toBe("/h/hub");
    expect(cacheOf({ HF_HOME: "/h", HUGGINGFACE_HUB_CACHE: "/old" })).toBe("/old");
    expect(cacheOf({ HUGGINGFACE_HUB_CACHE: "/old", HF_HUB_CACHE: "/c" })).toBe("/c");
    expect(hubSettings({ HF_ENDPOINT: "https://mirror.example/hf/" }).endpoint).toBe(
      "https://mirror.example/hf",
    );
    expect(hubSettings({ HF_HUB_OFFLINE: "1" }).offline).toBe(true);
    expect(hubSettings({ HF_HUB_OFFLINE: "0" }).offline).toBe(false);
  });

  it("find the token in HF_TOKEN, or in the file that a login leaves", async () => {
    await writeFile(join(home, "token"), "hf_file\n");
    expect(hubSettings({ HF_HOME: home }).token).toBe("hf_file");
    expect(hubSettings({ HF_HOME: home, HF_TOKEN: " hf_env " }).token).toBe("hf_env");
  });

  it("refuse a token that is none without showing it, and an address that is none", () => {
    const bad = (): unknown => hubSettings({ HF_TOKEN: "hf_secret two" });
    expect(bad).toThrow(errorWith("HTTP_KEY_MISSING", /^hub: the environment variable HF_TOKEN /));
    expect(bad).not.toThrow(/hf_secret/);
    expect(() => hubSettings({ HF_ENDPOINT: "mirror" })).toThrow(
      errorWith("RECIPE_BAD_VALUE", 'HF_ENDPOINT is "mirror"'),
    );
  });
});

describe("parseHubName", () => {
  it("reads organisation, name and revision", () => {
    expect(parseHubName("Qwen/Qwen2.5-0.5B")).toEqual({
      repository: "Qwen/Qwen2.5-0.5B",
      revision: "main",
    });
    expect(parseHubName("a/b@refs/pr/3")).toEqual({ repository: "a/b", revision: "refs/pr/3" });
    expect(hubNameText(parseHubName("a/b@v1.0")!)).toBe("a/b@v1.0");
    expect(hubNameText(parseHubName("a/b")!)).toBe("a/b");
  });

  it.each([
    "base",
    "/a/b",
    "./a/b",
    "../b",
    "a/b/c",
    "a/..",
    "a/b@",
    "a/b@../x",
    "a--b/c",
    "a/b.git",
    "a/b ",
    "~/m",
    "a\\b",
    ".a/b",
    "a/b@x.lock",
  ])("takes %s for no name", (text) => {
    expect(parseHubName(text)).toBeNull();
  });
});
