import { z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { stageHeads } from "./stage-heads.ts";

const stage = z
  .strictObject({
    /** What it does: a stage by name, such as `synth`, `sft`, `preference`, `train`, `evaluate`, `index`, or one of a plug-in. */
    do: z.string().superRefine((name, context) => {
      if (stageHeads.names.includes(name)) return;
      const message = `is "${name}"; no such stage. ${suggest(name, stageHeads.names)}`;
      context.addIssue({ code: "custom", message, params: { code: "PART_UNKNOWN" } });
    }),
    /** The stage's own options. */
    with: z.record(z.string(), z.unknown()).optional(),
    /** What other stages call it; what it does when absent. */
    name: z
      .string()
      .regex(
        /^(?!(?:start|last)$)[a-z][a-z0-9-]*$/,
        "expected lower-case letters, digits and hyphens, but not start or last",
      )
      .optional(),
    /** The policy that it starts from, or that teaches: the recipe's own (`start`), the one trained last, or that of a stage by name. */
    from: z.string().default("last"),
    /** The draws that it learns from: the last before it when absent, else those of a stage by name, or for sft of several. */
    data: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
    /** Whether the policy that it leaves is the run's start: the evaluation before training is then of it. */
    isStart: z.boolean().optional(),
    /** Whether the policy that it leaves is evaluated too, on the same questions: `eval/step-N` of the run, N the steps of all stages so far. */
    evaluate: z.boolean().optional(),
    /** Settings that hold for this stage, by dotted key; `{name}` in a text is the folder of the earlier stage of that name. */
    set: z.record(z.string(), z.unknown()).default({}),
  })
  .superRefine(({ do: name, with: given = {} }, context) => {
    const head = stageHeads.parts.find((each) => each.name === name);
    for (const { path, message } of head?.options.safeParse(given).error?.issues ?? [])
      context.addIssue({ code: "custom", path: ["with", ...path], message });
  });

/** Stages gone through in order, several times: each round starts from what the last left. */
const rounds = z.strictObject({ repeat: z.int().min(1), stages: z.array(stage).min(1) });

/** A recipe's way from its policy to the one that is evaluated; empty: the policy as it is. Without it, its `algorithm` alone. */
export const stagesSchema = z.array(z.union([stage, rounds]));

export type StageSettings = z.output<typeof stagesSchema>;

/** One stage to run. */
export interface Stage extends Omit<z.output<typeof stage>, "name"> {
  /** From 1. */
  number: number;
  /** Of several that share it the one done last is meant; folders are `<number>-<name>`. */
  name: string;
}

/**
 * All stages in order, rounds written out. A stage of rounds is called by its name within its round; from outside, that of the last
 * round is meant.
 */
export function stageList(settings: StageSettings): Stage[] {
  const flat = settings.flatMap((each) =>
    "repeat" in each ? Array.from({ length: each.repeat }, () => each.stages).flat() : [each],
  );
  return flat.map((each, i) => ({ ...each, number: i + 1, name: each.name ?? each.do }));
}
