import { DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { type Part, registry } from "../../base/registry.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { answerScores } from "../metrics/answer-metrics.ts";
import { type Agreement, agreementOf } from "./agreement.ts";
import type { JudgeCase } from "../../rewards/judge/judge-prompt.ts";

/** An answer of a system that a human has judged. */
export interface HumanVerdict extends JudgeCase {
  system: string;
  human: boolean;
}

interface HumanVerdicts {
  verdicts: HumanVerdict[];
  /** Questions marked as improper: outdated, or unclear. */
  improper: number;
  /** Places of answers that are missing or have no verdict. */
  skipped: string[];
}

interface HumanVerdictLayout extends Part {
  /** @throws {DataError} FILE_MISSING, FILE_NOT_JSON, JSONL_BAD_LINE, DATA_BAD_RECORD, DATA_EMPTY */
  read(path: string): Promise<HumanVerdicts>;
}

const SYSTEMS = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"] as const;

const evounaMark = z.object({ improper: z.boolean().nullish() });

const evounaRecord = z.looseObject({
  question: z.string().min(1),
  golden_answer: z.string().min(1),
});

/** Its tables were written by pandas: a missing verdict may be "nan". */
const evounaAnswer = z.object({
  answer: z.string().nullish(),
  judge: z.union([z.boolean(), z.literal("nan")]).nullish(),
});

const rowRecord = z.object({
  question: z.string(),
  references: z.array(z.string()).min(1),
  prediction: z.string(),
  correct: z.boolean(),
  system: z.string().default("all"),
});

/** Layouts of files with human verdicts. */
export const humanVerdictLayouts = registry<HumanVerdictLayout>("layout of human verdicts", [
  {
    name: "evouna",
    summary: "QA-Eval's EvOUNA: a JSON array, five systems a question; improper ones left out.",
    read: readEvouna,
  },
  {
    name: "rows",
    summary: "JSON lines: question, references, prediction, correct (true or false), system.",
    read: readRows,
  },
]);

/** The accepted answers in an EvOUNA file, joined by slashes; also the whole. @example evounaReferences("AC/DC") // AC/DC, AC, DC */
export function evounaReferences(golden: string): string[] {
  const parts = golden
    .split("/")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > 1 ? [golden, ...parts] : [golden];
}

async function readEvouna(path: string): Promise<HumanVerdicts> {
  const value = await readJson(path);
  const records: unknown[] = Array.isArray(value) ? value : [];
  const verdicts: HumanVerdict[] = [];
  const skipped: string[] = [];
  let improper = 0;
  for (const [i, record] of records.entries()) {
    const where = `${path}: record ${i + 1}`;
    // An improper record may lack anything else.
    if (recordOf(evounaMark, record, where).improper === true) {
      improper += 1;
      continue;
    }
    const checked = recordOf(evounaRecord, record, where);
    const { question, golden_answer: golden } = checked;
    for (const system of SYSTEMS) {
      const { answer, judge } = recordOf(
        evounaAnswer,
        { answer: checked[`answer_${system}`], judge: checked[`judge_${system}`] },
        `${where}, system ${system}`,
      );
      if (typeof answer !== "string" || typeof judge !== "boolean") {
        skipped.push(`record ${i + 1}, system ${system}`);
        continue;
      }
      const references = evounaReferences(golden);
      verdicts.push({ system, question, references, prediction: answer, human: judge });
    }
  }
  return notEmpty({ verdicts, improper, skipped }, path);
}

async function readRows(path: string): Promise<HumanVerdicts> {
  const verdicts: HumanVerdict[] = [];
  for await (const { value, line } of readJsonl(path)) {
    const { correct, ...rest } = recordOf(rowRecord, value, `${path}:${line}`);
    verdicts.push({ ...rest, human: correct });
  }
  return notEmpty({ verdicts, improper: 0, skipped: [] }, path);
}

function recordOf<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const checked = checkOptions(schema, value);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  const problem = `${where}: ${path.join(".")} ${message} Correct the record, or choose another layout with --dataset: ${humanVerdictLayouts.names.join(", ")}.`;
  throw new DataError("DATA_BAD_RECORD", problem);
}

function notEmpty(read: HumanVerdicts, path: string): HumanVerdicts {
  if (read.verdicts.length > 0) return read;
  const message = `${path}: holds no human verdicts. Choose its layout with --dataset: ${humanVerdictLayouts.names.join(", ")}.`;
  throw new DataError("DATA_EMPTY", message);
}

interface RuleVerdict extends Part {
  accepts(asked: Omit<JudgeCase, "question">): boolean;
}

/** The string metrics as judges: the baselines for a model. By the "squad" normalisation; token_cover by "words". */
export const ruleVerdicts = registry<RuleVerdict>("rule verdict", [
  {
    name: "em",
    summary: "Equals an accepted answer after normalisation.",
    accepts: (asked) => answerScores(asked).em === 1,
  },
  {
    name: "f1>=0.5",
    summary: "F1 with an accepted answer of at least .5.",
    accepts: (asked) => (answerScores(asked).f1 ?? 0) >= 0.5,
  },
  {
    name: "cover_em",
    summary: "Contains an accepted answer after normalisation.",
    accepts: (asked) => answerScores(asked).cover_em === 1,
  },
  {
    name: "token_cover",
    summary: "Contains every word of an accepted answer.",
    accepts: (asked) => answerScores(asked).token_cover === 1,
  },
]);

/** Agreement of one source of verdicts with humans. */
export interface HumanAgreement {
  all: Agreement;
  systems: Record<string, Agreement>;
  notEvaluated: number;
}

/** Agreement of verdicts with humans', over all and per system. @param given [n] in the order of `humans`; null if there is none. */
export function humanAgreement(
  humans: readonly HumanVerdict[],
  given: readonly (boolean | null)[],
  options: { seed: number },
): HumanAgreement {
  const pairs = humans.flatMap(({ system, question, human }, i) => {
    const verdict = given[i] ?? null;
    return verdict === null ? [] : [{ system, question, expected: human, given: verdict }];
  });
  const systems = [...new Set(humans.map(({ system }) => system))];
  return {
    all: agreementOf(pairs, options),
    systems: Object.fromEntries(
      systems.map((system) => [
        system,
        agreementOf(
          pairs.filter((pair) => pair.system === system),
          options,
        ),
      ]),
    ),
    notEvaluated: humans.length - pairs.length,
  };
}
