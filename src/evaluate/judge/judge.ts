import { AgentrlError, ExternalError, ScoreError } from "../../base/errors.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { CALIBRATION_CASES, type CalibrationCase } from "../../rewards/judge/calibration-cases.ts";
import {
  type JudgeCase,
  type JudgePrompt,
  MAX_ANSWER_CHARACTERS,
  type VerdictProblem,
  judgeMessages,
  readVerdict,
  reaskMessages,
  verdictJsonSchema,
} from "../../rewards/judge/judge-prompt.ts";
import { judgePrompts } from "../../rewards/judge/judge-prompts.ts";
import { shortHash } from "../fingerprint.ts";
import { type Share, shareOf } from "../statistics.ts";
import {
  type JudgeOpening,
  type JudgeSettings,
  type JudgeTraffic,
  VERDICT_FORMATS,
  type VerdictFormat,
  judgeAsker,
  keptReply,
} from "./judge-asker.ts";

/** A judge's verdict on one case. */
export interface Verdict {
  verdict: string | null;
  /** null: not evaluated, so neither right nor wrong. */
  correct: boolean | null;
  reason: string;
  problem: VerdictProblem | null;
  reasked: boolean;
}

/** Everything that a verdict depends on beside its case; recorded in results. */
export interface JudgeIdentity {
  prompt: { name: string; version: number; hash: string };
  model: string;
  format: VerdictFormat;
  temperature: number | null;
  seed: number;
  maxTokens: number;
}

/** A model that judges answers. */
export interface Judge {
  readonly prompt: JudgePrompt;
  readonly identity: JudgeIdentity;
  readonly traffic: Readonly<JudgeTraffic>;
  /** @param options.repeat number of the repeat of the same case, from 0. @throws {ExternalError} HTTP_…; FILE_WRITE_FAILED of the cache. */
  judge(
    asked: JudgeCase,
    options?: { repeat?: number; signal?: AbortSignal | undefined },
  ): Promise<Verdict>;
}

const PROBE: JudgeCase = {
  question: "What is the capital of France?",
  references: ["Paris"],
  prediction: "Paris",
};

/**
 * Opens a judge: asks one question, with `verdictFormat: auto` in the strictest format that the server accepts.
 * @throws {ScoreError} JUDGE_UNREACHABLE when it answers in no format. @throws {ConfigError} HTTP_KEY_MISSING
 */
export async function openJudge(settings: JudgeSettings, opening: JudgeOpening): Promise<Judge> {
  const prompt = judgePrompts.get(settings.prompt, "judge.prompt");
  const formats =
    settings.verdictFormat === "auto" ? VERDICT_FORMATS : ([settings.verdictFormat] as const);
  let first: unknown;
  const remembered = settings.verdictFormat === "auto" ? await formatOf(settings, opening) : null;
  for (const format of remembered === null ? formats : [remembered]) {
    try {
      const judge = judgeOf(settings, { prompt, format }, opening);
      await judge.judge(PROBE, { signal: opening.signal });
      if (settings.verdictFormat === "auto")
        await opening.cache.set(formatKey(settings), {
          text: format,
          finishReason: null,
          usage: null,
        });
      return judge;
    } catch (error) {
      if (!isHttpFailure(error)) throw error;
      first ??= error;
      if (error.code !== "HTTP_STATUS") break; // the other formats would fail, too
    }
  }
  throw unreachable("The judge does not answer", first);
}

/** Whether an error is a failed request. */
export function isHttpFailure(error: unknown): error is ExternalError {
  return error instanceof ExternalError && error.code.startsWith("HTTP_");
}

/** JUDGE_UNREACHABLE, with its cause. */
export function unreachable(what: string, cause: unknown): ScoreError {
  const said = cause instanceof AgentrlError ? cause.message : String(cause);
  const message = `${what}, so the answers were not evaluated: ${said} Its replies are in the cache: the same command (\`judge run\` with --resume) continues from there.`;
  return new ScoreError("JUDGE_UNREACHABLE", message, { cause });
}

function judgeOf(
  settings: JudgeSettings,
  { prompt, format }: { prompt: JudgePrompt; format: VerdictFormat },
  opening: JudgeOpening,
): Judge {
  const { model, temperature, seed, maxTokens } = settings;
  const { name, version } = prompt;
  const traffic = {
    asked: 0,
    cached: 0,
    reasked: 0,
    promptTokens: 0,
    completionTokens: 0,
    cost: null,
  };
  const ask = judgeAsker(settings, { format, prompt, traffic }, opening);
  return {
    prompt,
    traffic,
    identity: {
      prompt: { name, version, hash: promptHash(prompt) },
      model,
      format,
      temperature,
      seed,
      maxTokens,
    },
    async judge(asked, { repeat = 0, signal } = {}) {
      const messages = judgeMessages(prompt, asked);
      const reply = await ask(messages, repeat, signal);
      const read = readVerdict(prompt, reply.text, reply.finishReason);
      if (read.problem === null) return verdictOf(prompt, read, false);
      traffic.reasked += 1;
      const again = await ask(reaskMessages(messages, reply.text), repeat, signal);
      return verdictOf(prompt, readVerdict(prompt, again.text, again.finishReason), true);
    },
  };
}

function verdictOf(
  { accepted }: JudgePrompt,
  read: ReturnType<typeof readVerdict>,
  reasked: boolean,
): Verdict {
  const { verdict, problem } = read;
  if (problem !== null) return { verdict: null, correct: null, reason: "", problem, reasked };
  return { verdict, correct: accepted.includes(verdict), reason: read.reason, problem, reasked };
}

/** Hash of all texts of the prompt, twelve hexadecimal digits. */
export function promptHash(prompt: JudgePrompt): string {
  const probe = { question: "Q", references: ["A", "B"], prediction: "P" };
  const messages = judgeMessages(prompt, probe);
  return shortHash([
    reaskMessages(messages, "R"),
    verdictJsonSchema(prompt),
    prompt.accepted,
    MAX_ANSWER_CHARACTERS,
  ]);
}

/** Key of the cached format of a server, so that a second run sends no test request. */
function formatKey({ baseUrl, model, prompt }: JudgeSettings): object {
  return { baseUrl, model, prompt, verdictFormat: "auto" };
}

async function formatOf(
  settings: JudgeSettings,
  { cache }: JudgeOpening,
): Promise<VerdictFormat | null> {
  const kept = await cache.get(formatKey(settings), keptReply);
  return VERDICT_FORMATS.find((format) => format === kept?.text) ?? null;
}

/** Result of a judge on cases with a known verdict. */
export interface Calibration {
  /** Share of known right answers that it accepts, of those with a readable verdict. */
  rightAccepted: Share;
  /** Share of known wrong answers that it rejects. */
  wrongRejected: Share;
  unparsed: number;
  /** Cases by kind: their number, and how many were judged correctly. */
  kinds: Record<string, { n: number; right: number }>;
  mistakes: { id: string; question: string; prediction: string; verdict: string }[];
}

/** Limits that a judge must reach. */
export type CalibrationBounds = { minimum: number; maxUnparsed: number };

/** The calibration cases that apply to a prompt. */
export function casesFor({ prompt }: Pick<Judge, "prompt">): CalibrationCase[] {
  return CALIBRATION_CASES.filter(({ kind }) => !prompt.leavesOut.includes(kind));
}

/** Asks a judge about known right and wrong answers. @throws {ScoreError} JUDGE_UNREACHABLE when a request fails. */
export async function calibrate(judge: Judge, signal?: AbortSignal): Promise<Calibration> {
  const cases = casesFor(judge);
  const ask = (asked: CalibrationCase, stop: AbortSignal): ReturnType<Judge["judge"]> =>
    judge.judge(asked, { signal: stop });
  const verdicts = await allOrAbort(cases, ask, signal).catch((error: unknown) => {
    throw isHttpFailure(error) ? unreachable("The judge failed while calibrated", error) : error;
  });
  const judged = cases.flatMap((asked, i) => {
    const { correct = null, verdict = null } = verdicts[i] ?? {};
    return correct === null || verdict === null
      ? []
      : [{ ...asked, verdict, agrees: correct === asked.correct }];
  });
  const kinds: Calibration["kinds"] = {};
  for (const { kind, agrees } of judged) {
    const group = (kinds[kind] ??= { n: 0, right: 0 });
    group.n += 1;
    group.right += Number(agrees);
  }
  const agreesOf = (correct: boolean): boolean[] =>
    judged.filter((each) => each.correct === correct).map(({ agrees }) => agrees);
  return {
    rightAccepted: shareOf(agreesOf(true)),
    wrongRejected: shareOf(agreesOf(false)),
    unparsed: cases.length - judged.length,
    kinds,
    mistakes: judged
      .filter(({ agrees }) => !agrees)
      .map(({ id, question, prediction, verdict }) => ({ id, question, prediction, verdict })),
  };
}

/** @throws {ScoreError} JUDGE_UNCALIBRATED when a rate is below the minimum, JUDGE_UNPARSABLE when too few verdicts could be read. */
export function checkCalibration(
  { rightAccepted, wrongRejected, unparsed }: Calibration,
  { minimum, maxUnparsed }: CalibrationBounds,
): void {
  checkUnparsed(unparsed, rightAccepted.n + wrongRejected.n + unparsed, maxUnparsed);
  if ((rightAccepted.rate ?? 0) >= minimum && (wrongRejected.rate ?? 0) >= minimum) return;
  throw new ScoreError(
    "JUDGE_UNCALIBRATED",
    `The judge accepts ${rightAccepted.count} of ${rightAccepted.n} answers known to be right and rejects ${wrongRejected.count} of ` +
      `${wrongRejected.n} known to be wrong; both must reach ${minimum}. Take another model or --prompt, or lower --min-calibration ` +
      "(0 accepts every judge) and report that beside the result.",
  );
}

/** @throws {ScoreError} JUDGE_UNPARSABLE when more than the allowed share of verdicts could not be read. */
export function checkUnparsed(unparsed: number, n: number, maxUnparsed: number): void {
  if (unparsed <= maxUnparsed * n) return;
  throw new ScoreError(
    "JUDGE_UNPARSABLE",
    `${unparsed} of ${n} verdicts of the judge could not be read, also after a second request; at most ${maxUnparsed} of all is allowed. ` +
      "Raise --max-tokens if they were cut, use another --verdict-format or model, or raise --max-unparsed.",
  );
}
