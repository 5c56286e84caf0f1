import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { packageRoot } from "../../src/base/package-root.ts";
import {
  asPluginError,
  fileNameOf,
  loadPlugin,
  pluginHashes,
  pluginsNamedIn,
} from "../../src/base/plugins.ts";
import { registry } from "../../src/base/registry.ts";
import { defineTeacher } from "../../src/env/teacher.ts";
import { defineWorld } from "../../src/env/world.ts";
import { runTools } from "../../src/rollout/record.ts";
import { baseNamed } from "../../src/run/settings/base-names.ts";
import { teacherSchema } from "../../src/synth/teachers/index.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { runNode } from "../helpers/run-node.ts";
import { spawnCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const { signal } = new AbortController();

/** Loads a plugin with a part of this name; its second line is `code`, a function that the part runs. */
async function plugin(name: string, code: string) {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, `export const run = () => {\n${code}\n};\n${partText(name)}`);
  const loaded = await loadPlugin(`./${name}.mjs`, folder, "--plugin");
  const { run } = (await import(file)) as { run: () => Promise<void> };
  return { loaded, run };
}

function partText(name: string): string {
  return `export default { part: "filter", name: "${name}", summary: "A part.", keep: () => [] };`;
}

const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What a function threw. */
async function thrown(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("pluginsNamedIn", () => {
  it("finds the plugins whose parts the settings name, and no others", async () => {
    const { loaded } = await plugin("named", "");
    await plugin("other", "");
    expect(pluginsNamedIn({ algorithm: { filters: [{ name: "named" }] } })).toEqual([loaded]);
    expect(pluginHashes({ strategy: "named" })).toEqual({
      plugins: { "named.mjs": loaded.sha256 },
    });
  });

  it("adds nothing to a hash without a plugin", () => {
    expect(pluginHashes({ strategy: "agent" })).toEqual({});
  });
});

describe("loadPlugin", () => {
  const load = (name: string) => loadPlugin(name, folder, "--plugin");
  const written = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return `./${name}`;
  };

  it("says where it looked for a file or package that is not there", async () => {
    await expect(load("./nowhere.mjs")).rejects.toThrow(
      errorWith("PLUGIN_NOT_FOUND", join(folder, "nowhere.mjs")),
    );
    written("plain.mjs", "export default [];");
    await expect(load("plain.mjs")).rejects.toThrow(errorWith("PLUGIN_NOT_FOUND", "./plain.mjs."));
  });

  it("names the line of a file that does not parse", () => {
    const name = written("broken.mjs", "\nexport default [1,;\n");
    const { stderr, status } = spawnCli(["recipes", "check", "search-r1", "--plugin", name], {
      cwd: folder,
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/broken\.mjs:2: .*\[PLUGIN_FAILED]/);
  });

  it("hashes the files that it imports too, and finds a mistake in them", async () => {
    written("constants.cjs", "module.exports = 3;");
    written("deep.mjs", `import count from "./constants.cjs";\nexport const deep = count;`);
    written(
      "side.mjs",
      `import { deep } from "./deep.mjs";\nexport const fail = () => deep.trim();`,
    );
    written(
      "several.mjs",
      `import { fail } from "./side.mjs";\nexport { fail };\n${partText("several")}`,
    );
    // In a process of its own: vitest imports modules by itself.
    const dist = join(packageRoot, "dist", "base", "plugins.js");
    const printed = await runNode(`
      import { asPluginError, loadPlugin } from ${JSON.stringify(dist)};
      const { files, sha256 } = await loadPlugin("./several.mjs", ${JSON.stringify(folder)}, "x");
      const { fail } = await import(files[0]);
      let message = "";
      try { fail(); } catch (error) { message = asPluginError(error).message; }
      console.log(JSON.stringify({ files, sha256, message }));`);
    const { files, sha256, message } = JSON.parse(printed) as {
      files: string[];
      sha256: string;
      message: string;
    };
    const names = ["several.mjs", "side.mjs", "deep.mjs", "constants.cjs"];
    expect(files.map((each) => basename(each))).toEqual(names);
    // By hand: sha256 of the sorted lines "path sha256".
    const line = (name: string) => `${name} ${sha256Of(readFileSync(join(folder, name), "utf8"))}`;
    expect(sha256).toBe(sha256Of(names.map(line).sort().join("\n")));
    expect(message).toMatch(/side\.mjs:2:\d+: .*trim/);
  });

  it("names the function that a part written without its helper lacks", async () => {
    const bare = written(
      "helperless.mjs",
      `export default { part: "filter", name: "x", summary: "s" };`,
    );
    await expect(load(bare)).rejects.toThrow(
      errorWith("PLUGIN_BAD_PART", /helperless\.mjs: filter "x": keep is undefined/),
    );
  });

  it("refuses what is no part, and a name that is taken", async () => {
    const bare = written("bare.mjs", `export default [{ name: "bare" }];`);
    await expect(load(bare)).rejects.toThrow(
      errorWith("PLUGIN_BAD_PART", /export 0 .*defineReward/),
    );
    const none = written("none.mjs", "export const part = 1;");
    await expect(load(none)).rejects.toThrow(errorWith("PLUGIN_BAD_PART", "no default export"));
    await plugin("taken", "");
    const again = written("again.mjs", partText("taken"));
    registry("filter", []);
    await expect(load(again)).rejects.toThrow(errorWith("PLUGIN_BAD_PART", /"taken"/));
  });
});

describe("fileNameOf", () => {
  it.each([
    ["/home/me/parts.mjs", "parts.mjs"],
    ["/home/me/node_modules/my-parts/dist/index.js", "my-parts/dist/index.js"],
  ])("of %s is %s on every machine", (file, name) => {
    expect(fileNameOf({ file })).toBe(name);
  });
});

describe("a world of a plugin", () => {
  it("brings its dataset, environment and bases", async () => {
    const teacher = defineTeacher({
      name: "adder",
      summary: "Adds.",
      open:
        () =>
        ({ task }) =>
          task.references[0] ?? "",
    });
    const world = defineWorld({
      name: "sums",
      summary: "Sums.",
      tasks: ({ questions }) =>
        Array.from({ length: questions }, (_, i) => {
          return { id: String(i), question: `${i} + 1`, references: [String(i + 1)] };
        }),
      teachers: [teacher],
      bases: ["/bases/summing.yaml"],
    });
    Object.assign(globalThis, { sums: world });
    writeFileSync(join(folder, "sums.mjs"), "export default globalThis.sums;");
    const { parts } = await loadPlugin("./sums.mjs", folder, "--plugin");
    expect(parts).toEqual([
      { kind: "world", name: "sums" },
      { kind: "dataset", name: "sums" },
      { kind: "teacher", name: "adder" },
    ]);
    const dataset = await openDataset({ name: "sums", questions: 2 }, "test");
    expect(await dataset.tasks()).toEqual([
      { id: "0", question: "0 + 1", references: ["1"], source: "sums", annotations: {} },
      { id: "1", question: "1 + 1", references: ["2"], source: "sums", annotations: {} },
    ]);
    expect(teacherSchema.parse({ name: "adder" })).toEqual({ name: "adder" });
    expect(baseNamed("summing@smoke")).toEqual({ recipe: "/bases/summing.yaml", tier: "smoke" });
  });

  it("is refused where it has nothing", () => {
    expect(() => defineWorld({ name: "empty", summary: "Nothing." })).toThrow(
      errorWith("PLUGIN_BAD_PART", 'world "empty": tasks is undefined: expected a function'),
    );
  });
});

describe("pluginsNamedIn", () => {
  it("gives a mistake its file, line and column", async () => {
    const { run } = await plugin("mistake", "undefined.trim();");
    const error = asPluginError(await thrown(async () => run()));
    expect(error).toEqual(errorWith("PLUGIN_FAILED", /mistake\.mjs:2:\d+: .*trim/));
  });

  it("leaves an error from elsewhere as it is", () => {
    const error = new Error("ours");
    expect(asPluginError(error)).toBe(error);
  });
});

describe("a tool of a plugin", () => {
  it("ends the run by a mistake", async () => {
    const { run } = await plugin("bad-tool", "undefined.trim();");
    const error = await thrown(() => runTools(signal, async () => run()));
    expect(error).toEqual(errorWith("PLUGIN_FAILED", /bad-tool\.mjs:2:\d+: /));
  });

  it("ends its trajectory alone when the network or a file fails", async () => {
    const { run } = await plugin(
      "absent-file",
      `throw Object.assign(new Error("no such file"), { code: "ENOENT" });`,
    );
    const error = await thrown(() => runTools(signal, async () => run()));
    expect(error).toBeInstanceOf(RolloutError);
    expect(error).toEqual(errorWith("TOOL_FAILED", "no such file"));
  });
});
