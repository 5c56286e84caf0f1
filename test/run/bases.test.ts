import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { policyFolder } from "../../src/run/assemble.ts";
import { findBase, makeBases, type MakeBase } from "../../src/run/bases.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cache = temporaryFolder();
let place = "";
beforeEach(({ task }) => {
  const home = join(cache, task.id);
  vi.stubEnv("XDG_CACHE_HOME", home);
  place = join(home, "agentrl", "bases");
});

/** A maker that writes a folder of one file, after `work`. */
function maker(work: () => Promise<void> = () => Promise.resolve()): {
  makeBase: MakeBase;
  made: string[];
} {
  const made: string[] = [];
  return {
    made,
    makeBase: async ({ name }, out) => {
      const policy = join(out, "policy");
      mkdirSync(policy, { recursive: true });
      writeFileSync(join(policy, "config.json"), "{}");
      await work();
      made.push(name);
      return policy;
    },
  };
}

describe("a base", () => {
  it("is made by its first user and found by later ones", async () => {
    const { makeBase, made } = maker();
    const notices: string[] = [];
    const onNotice = (text: string): void => void notices.push(text);
    const folder = await policyFolder("timid", { makeBase, onNotice });
    expect(await policyFolder("timid")).toBe(folder);
    expect(made).toEqual(["timid"]);
    expect(notices).toEqual([expect.stringMatching(/"timid".*minutes.*agentrl\/bases\/timid-/)]);
    expect(readdirSync(place)).toEqual([folder.slice(place.length + 1)]);
  });

  it("is made once for users that come together: the others wait", async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { makeBase, made } = maker(() => finished);
    const notices: string[] = [];
    // Either may be the maker; it ends when the other has said that it waits.
    const onNotice = (text: string): void => {
      notices.push(text);
      if (text.startsWith("waits")) finish();
    };
    const users = [1, 2].map(() => policyFolder("timid", { makeBase, onNotice }));
    const [first, second] = await Promise.all(users);
    expect(second).toBe(first);
    expect(made).toEqual(["timid"]);
    expect(notices.toSorted()).toEqual([
      expect.stringContaining("makes the base policy"),
      expect.stringContaining(`process ${process.pid}`),
    ]);
  });

  it("leaves nothing when its making is interrupted, and is made by the next user", async () => {
    const { makeBase } = maker(() => Promise.reject(new Error("interrupted")));
    await expect(policyFolder("timid", { makeBase })).rejects.toThrow("interrupted");
    expect(readdirSync(place)).toEqual([]);
    // What a killed process leaves.
    const { folder } = (await findBase("timid")) ?? { folder: "" };
    mkdirSync(`${folder}.making/stages`, { recursive: true });
    expect(existsSync(await policyFolder("timid", maker()))).toBe(true);
    expect(readdirSync(place)).toEqual([folder.slice(place.length + 1)]);
  });

  it("is not waited for when the user interrupts", async () => {
    // The other user is the maker for certain: it has begun.
    const { makeBase } = await new Promise<ReturnType<typeof maker>>((begun) => {
      const endless = maker(() => {
        begun(endless);
        return new Promise(() => undefined);
      });
      void policyFolder("timid", endless);
    });
    const stop = new AbortController();
    const waiting = policyFolder("timid", {
      makeBase,
      signal: stop.signal,
      onNotice: () => {
        stop.abort();
      },
    });
    await expect(waiting).rejects.toThrow("aborted");
  });

  it("needs a caller that can make it", async () => {
    await expect(policyFolder("timid")).rejects.toThrow(errorWith("BASE_ABSENT", "timid"));
  });

  it("has a name that is suggested where a policy is misspelt", async () => {
    await expect(policyFolder("timd")).rejects.toThrow(
      errorWith("MODEL_NAME", 'Did you mean "timid"? Known: base, literate,'),
    );
  });

  it("is another one at another tier", async () => {
    const [mini, smoke] = [await findBase("timid"), await findBase("timid@smoke")];
    expect(mini?.resolved.tier).toBe("mini");
    expect(smoke?.resolved.tier).toBe("smoke");
    expect(mini?.key).not.toBe(smoke?.key);
    await expect(findBase("timid@paper")).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", "paper"));
  });
});

describe("a recipe that starts from a base", () => {
  const overrides = [
    { key: "policy.from", value: "timid", origin: "test" },
    { key: "models", value: { reader: { from: "timid" } }, origin: "test" },
    { key: "synth.teacher", value: { name: "model", from: "timid@mini" }, origin: "test" },
  ];

  it("takes its smoke tier in a smoke run, for the policy and for roles", async () => {
    const { settings } = await resolveRecipe("start", { tier: "smoke", overrides });
    expect(settings.policy.from).toBe("timid@smoke");
    expect(settings.models).toEqual({ reader: { from: "timid@smoke" } });
    expect(settings.synth?.teacher).toEqual({ name: "model", from: "timid@mini" });
    const mini = await resolveRecipe("start", { tier: "mini", overrides });
    expect(mini.settings.policy.from).toBe("timid");
  });

  it("has every base made that its settings name", async () => {
    const { settings } = await resolveRecipe("start", { tier: "smoke", overrides });
    const { makeBase, made } = maker();
    await makeBases(settings, { makeBase });
    expect(made).toEqual(["timid@smoke", "timid@mini"]);
  });
});
