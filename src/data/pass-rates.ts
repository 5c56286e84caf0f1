import { DataError } from "../base/errors.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote, z } from "../base/schema.ts";

/** Share of correct answers to a question. */
export interface PassRate {
  id: string;
  question: string;
  /** From 0 to 1. */
  rate: number;
  draws: number;
  /** Number of the first correct answer, from 1; Infinity when none was. */
  tries: number;
}

const evaluated = z.looseObject({
  id: z.string(),
  question: z.string(),
  em: z.number(),
  error: z.unknown().optional(),
});

const drawn = z.looseObject({
  task: z.looseObject({ id: z.string(), question: z.string() }),
  candidates: z.array(
    z.looseObject({
      provenance: z.looseObject({ draw: z.looseObject({ name: z.string() }) }).optional(),
      trajectory: z.looseObject({ reward: z.number().nullable() }),
    }),
  ),
});

/**
 * Pass rates by question, from the rows of an evaluation (`rows.jsonl`: exact matches) or the draws of a synthesis (`draws.jsonl`:
 * rewards of at least 1). Several lines of a question are combined. Failed and unscored answers do not count; questions
 * without any scored answer are omitted.
 *
 * @param draw name of the draw to use from a synthesis; default: all draws.
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE; DATA_BAD_RECORD for a line of neither kind; DATA_EMPTY when nothing was scored.
 */
export async function readPassRates(path: string, draw?: string): Promise<PassRate[]> {
  const counts = new Map<string, { question: string; verdicts: boolean[] }>();
  for await (const { value, line } of readJsonl(path)) {
    const { id, question, verdicts } = verdictsOf(value, draw, `${path}:${line}`);
    const count = counts.get(id) ?? { question, verdicts: [] };
    counts.set(id, count);
    count.verdicts.push(...verdicts);
  }
  const rates = [...counts].flatMap(([id, { question, verdicts }]) => {
    const [draws, first] = [verdicts.length, verdicts.indexOf(true)];
    if (draws === 0) return [];
    const rate = verdicts.filter(Boolean).length / draws;
    return [{ id, question, rate, draws, tries: first < 0 ? Infinity : first + 1 }];
  });
  if (rates.length > 0) return rates;
  throw new DataError(
    "DATA_EMPTY",
    `${path}: contains no scored answer, so there are no pass rates. Use the rows.jsonl of an evaluation or the draws.jsonl of a synthesis.`,
  );
}

function verdictsOf(
  value: unknown,
  draw: string | undefined,
  where: string,
): { id: string; question: string; verdicts: boolean[] } {
  const row = evaluated.safeParse(value);
  if (row.success) {
    const { id, question, em, error } = row.data;
    return { id, question, verdicts: error === undefined ? [em === 1] : [] };
  }
  const draws = drawn.safeParse(value);
  if (draws.success) {
    const { task, candidates } = draws.data;
    const rewards = candidates
      .filter(({ provenance }) => draw === undefined || provenance?.draw.name === draw)
      .map(({ trajectory }) => trajectory.reward);
    const scored = rewards.filter((reward) => reward !== null);
    return { id: task.id, question: task.question, verdicts: scored.map((r) => r >= 1) };
  }
  const found = typeof value === "object" && value !== null ? Object.keys(value) : quote(value);
  throw new DataError(
    "DATA_BAD_RECORD",
    `${where}: is neither a row of an evaluation (id, question, em) nor the draws of a question (task, candidates); found: ${String(found)}. Use the rows.jsonl of agentrl eval --out, or the draws.jsonl of agentrl synth-data.`,
  );
}
