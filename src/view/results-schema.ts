import { z } from "../base/schema.ts";
import type { EvaluationErrors } from "../evaluate/evaluation-summary.ts";

/**
 * The schema of `results.json` of `agentrl eval`, for other programs as JSON Schema (docs/results.schema.json). New keys of a later version
 * are no error; the keys here keep their meaning.
 */

const share = z.number().min(0);

/** Both ends of a 95 % interval; null if it could not be computed. */
const interval = z
  .tuple([z.number(), z.number()])
  .nullable()
  .describe("Low and high end of a 95 % interval; null where there is none.");

/** Metrics by name; null: does not apply to these questions. */
const metrics = z
  .record(z.string(), z.number().nullable())
  .describe("Means over questions by metric; null where a metric does not apply.");

const group = z.looseObject({
  n: z.int().min(0).describe("Questions of this group."),
  metrics,
  intervals: z.record(z.string(), interval).optional(),
});

const failures = z
  .union([
    z.int().min(0),
    z.looseObject({
      n: z.int().min(0).describe("Rows that ended in an error."),
      byCode: z.record(z.string(), z.int().min(0)),
      asWrong: z
        .looseObject({ n: z.int().min(0), em: z.number(), f1: z.number() })
        .exactOptional()
        .describe("Means over all questions, failed draws counted as wrong; if rows failed."),
    }),
  ])
  .describe("Rows that ended in an error: nothing was measured.");

/** One evaluation under one protocol, as in `results.json`. */
export const resultsSchema = z
  .looseObject({
    n: z.int().min(0).describe("Questions."),
    samplesPerTask: z.int().min(0).describe("Draws per question."),
    errors: failures,
    metrics,
    intervals: z.record(z.string(), interval).describe("95 % intervals over questions, by metric."),
    intervalMethods: z.record(z.string(), z.string()).describe("How each interval was computed."),
    groups: z
      .record(z.string(), z.record(z.string(), group))
      .describe('The same by kind of group ("hops", "type") and by group ("2-hop").'),
    metricCounts: z
      .record(z.string(), z.int().min(0))
      .optional()
      .describe("Questions behind each metric that not every question has."),
    calibration: z
      .looseObject({})
      .optional()
      .describe("How well confidences agree with em, over draws."),
    costPerQuestion: z
      .looseObject({ amount: z.number(), currency: z.string() })
      .optional()
      .describe("Of a server whose price is known."),
    ends: z
      .record(z.string(), share)
      .describe("Rows by how they ended: answered, turn-limit, context-limit, …"),
    fingerprint: z.string().describe("Hash of `protocol`: only results of one are comparable."),
    protocol: z
      .looseObject({})
      .describe("Everything under which it was measured, apart from the policy."),
    policy: z
      .looseObject({
        from: z
          .string()
          .optional()
          .describe("Folder, model of the hub, address of a server, or file."),
        sha256: z.string().optional().describe("Of a model's files or of the predictions."),
        model: z.string().optional().describe("As a server names it."),
      })
      .describe("Who was measured."),
    readsGold: z
      .boolean()
      .describe("Whether what was searched looked at the gold: a control, no result."),
    dataset: z.string(),
    strategy: z.string(),
    seed: z.int(),
    recipe: z.looseObject({ name: z.string(), tier: z.string() }).optional(),
  })
  .describe("Results of one evaluation, as `agentrl eval --out FOLDER` writes them.");

/** Parsed results. */
export type Results = z.output<typeof resultsSchema>;

/** The schema for other programs: JSON Schema, draft 2020-12. */
export function resultsJsonSchema(): Record<string, unknown> {
  return { title: "agentrl results", ...z.toJSONSchema(resultsSchema, { io: "input" }) };
}

/** Failed rows, by code if known. */
export function failuresOf({ errors }: Pick<Results, "errors">): EvaluationErrors {
  return typeof errors === "number" ? { n: errors, byCode: {} } : errors;
}
