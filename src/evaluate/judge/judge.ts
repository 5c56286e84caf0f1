import { AgentrlError, ExternalError, ScoreError } from "../../base/errors.ts";
import {
  judgeAsker,
  keptReply,
  type JudgeOpening,
  type JudgeSettings,
  type JudgeTraffic,
  VERDICT_FORMATS,
  type VerdictFormat,
} from "./judge-asker.ts";
import {
  type JudgeCase,
  judgeMessages,
  type JudgePrompt,
  MAX_ANSWER_CHARACTERS,
  readVerdict,
  reaskMessages,
  verdictJsonSchema,
  type VerdictProblem,
} from "../../rewards/judge/judge-prompt.ts";
import { shortHash } from "../fingerprint.ts";
import { judgePrompts } from "../../rewards/judge/judge-prompts.ts";

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
  /** How JSON was requested. */
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

/** The test request when a judge is opened, to find the reply format that the server accepts. */
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
      if (settings.verdictFormat === "auto") await rememberFormat(settings, format, opening);
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

async function rememberFormat(
  settings: JudgeSettings,
  format: VerdictFormat,
  { cache }: JudgeOpening,
): Promise<void> {
  await cache.set(formatKey(settings), { text: format, finishReason: null, usage: null });
}
