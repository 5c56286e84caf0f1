import { cpus } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { sha256File, writeFileAtomic } from "../base/files.ts";
import { formatDuration } from "../base/format.ts";
import { packageVersion } from "../base/package-root.ts";
import type { Base, BaseProgress, MakeBase } from "./bases.ts";
import { runStages } from "./driver.ts";
import { RESOLVED_FILE } from "./folder/run-file.ts";
import type { Session } from "./session.ts";
import { toYaml } from "./settings/resolved-yaml.ts";
import { settingsSchema } from "./settings/settings-schema.ts";
import { withOverrides } from "./settings/settings.ts";

/**
 * Makes a base by the stages of its recipe: a recipe without stages is one stage of fine-tuning.
 * @returns the folder of its policy, with its recipe and its card.
 */
export const makeBase: MakeBase = async (base, out, options) => {
  const begun = performance.now();
  const { resolved } = base;
  const { stages = [{ do: "sft" }] } = resolved.settings;
  const staged = await withOverrides(settingsSchema, resolved, [
    { key: "stages", value: stages, origin: "base" },
  ]);
  const { signal, onBase } = options;
  let stage = "";
  const progress = (at: Omit<BaseProgress, "name" | "note">, note = ""): void =>
    onBase?.({ name: base.name, ...at, note: `${stage}${note}` });
  const session = {
    out,
    version: packageVersion(),
    signal,
    download: options,
    onStage: ({ number, name }, total) => {
      stage = total === 1 ? "" : `stage ${number}/${total} ${name} `;
    },
    onStep: ({ step, totalSteps }) => {
      progress({ done: step, total: totalSteps });
    },
    onStageProgress: ({ note, ...at }) => {
      progress(at, note);
    },
  } satisfies Session;
  const { policy } = await runStages(staged, session, { around: false });
  if (policy === null) {
    throw new Error(`${resolved.recipe.path}: no stage trains a policy.`);
  }
  await writeFileAtomic(join(policy, RESOLVED_FILE), toYaml(resolved, base.folder));
  const seconds = (performance.now() - begun) / 1000;
  await writeFileAtomic(join(policy, "README.md"), await cardOf(base, policy, seconds));
  return policy;
};

async function cardOf({ name, key, resolved }: Base, policy: string, seconds: number) {
  const { recipe, tier } = resolved;
  return `# The base policy ${name}

${recipe.summary}

${recipe.notes.map((note) => `- ${note}\n`).join("")}
Made by agentrl ${packageVersion()} from \`${recipe.path}\`, tier ${tier}, in ${formatDuration(seconds)} on ${cpus()[0]?.model ?? "an unknown processor"}.
Key \`${key}\`; SHA-256 of \`model.safetensors\`: \`${await sha256File(join(policy, "model.safetensors"))}\`.
\`recipe.resolved.yaml\` has its settings; docs/worlds.md has measured figures.
`;
}
