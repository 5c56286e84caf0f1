import { type Command, Option } from "commander";
import { parseOptions } from "../../base/schema.ts";
import {
  calibrate,
  type Calibration,
  type CalibrationBounds,
  checkCalibration,
} from "../../evaluate/judge/calibrate.ts";
import {
  folderCache,
  judgeSchema,
  noCache,
  VERDICT_FORMATS,
} from "../../evaluate/judge/judge-asker.ts";
import { judgePrompts } from "../../evaluate/judge/judge-prompts.ts";
import { type Judge, openJudge } from "../../evaluate/judge/judge.ts";
import { serverAddress } from "../../http/http-options.ts";
import type { CliContext } from "../command.ts";
import { decimal, wholeNumber } from "../options.ts";
import { calibrationText } from "./judge-text.ts";

/** Flags of every command that asks a judge. */
export interface JudgeFlags {
  endpoint: string;
  model: string;
  apiKeyEnv?: string;
  prompt?: string;
  verdictFormat?: string;
  temperature?: number | null;
  seed?: number;
  maxTokens?: number;
  tokenLimit?: string;
  concurrency?: number;
  timeoutMs?: number;
  retries?: number;
  cache?: string | boolean;
  minCalibration?: number;
  maxUnparsed?: number;
}

/** Default minimum of both calibration rates. */
const BOUNDS: CalibrationBounds = { minimum: 0.9, maxUnparsed: 0.05 };

/** Default number of concurrent answers: the client's own. */
export const DEFAULT_CONCURRENCY = 8;

/** Adds the flags of `JudgeFlags`. @param options.required whether the command requires a judge. */
export function addJudgeOptions(command: Command, options: { required: boolean }): Command {
  const endpoint = new Option(
    "--endpoint <url>",
    "OpenAI-compatible server, with its version: http://127.0.0.1:8000/v1",
  ).makeOptionMandatory(options.required);
  const model = new Option("--model <name>", "model name on the server");
  return command
    .addOption(endpoint)
    .addOption(model.makeOptionMandatory(options.required))
    .option(
      "--api-key-env <name>",
      "environment variable with the API key, or none (default: OPENAI_API_KEY)",
    )
    .addOption(
      new Option(
        "--prompt <name>",
        judgePrompts.parts.map(({ name, summary }) => `${name}: ${summary}`).join(" "),
      ).choices(judgePrompts.names),
    )
    .addOption(
      new Option(
        "--verdict-format <form>",
        "how to request JSON from the server (auto: the first way that it accepts)",
      ).choices(["auto", ...VERDICT_FORMATS]),
    )
    .option(
      "--temperature <t>",
      "sampling temperature; none leaves it to the server (default: 0)",
      temperature,
    )
    .option("--seed <n>", "sent with each request (default: 0)", wholeNumber(0))
    .option(
      "--max-tokens <n>",
      "longest reply in tokens (default: 512); reasoning models need more",
      wholeNumber(1),
    )
    .addOption(
      new Option("--token-limit <key>", "name of that limit in the request").choices([
        "max_tokens",
        "max_completion_tokens",
      ]),
    )
    .option("--concurrency <n>", "requests at once (default: 8)", wholeNumber(1, 1024))
    .option(
      "--timeout-ms <n>",
      "time limit of one attempt in milliseconds (default: 30000)",
      wholeNumber(1),
    )
    .option("--retries <n>", "attempts after the first (default: 4)", wholeNumber(0, 20))
    .option("--cache <folder>", "folder of stored replies; an equal request is not sent again")
    .option("--no-cache", "send every request and store nothing")
    .option(
      "--min-calibration <share>",
      `smallest share of known right answers accepted and of known wrong ones rejected (default: ${BOUNDS.minimum})`,
      decimal(0, 1),
    )
    .option(
      "--max-unparsed <share>",
      `largest share of unreadable verdicts (default: ${BOUNDS.maxUnparsed})`,
      decimal(0, 1),
    );
}

/** The limits of the flags. */
export function boundsOf({ minCalibration, maxUnparsed }: JudgeFlags): CalibrationBounds {
  return {
    minimum: minCalibration ?? BOUNDS.minimum,
    maxUnparsed: maxUnparsed ?? BOUNDS.maxUnparsed,
  };
}

/**
 * Opens the judge that the flags describe and calibrates it; both rates go to stderr.
 *
 * @param cacheFolder default of --cache.
 * @throws {ConfigError} RECIPE_BAD_VALUE for the address, HTTP_KEY_MISSING.
 * @throws {ScoreError} JUDGE_UNREACHABLE, JUDGE_UNPARSABLE, JUDGE_UNCALIBRATED.
 */
export async function calibratedJudge(
  flags: JudgeFlags,
  cacheFolder: string,
  context: CliContext,
): Promise<{ judge: Judge; calibration: Calibration }> {
  const judge = await openFlaggedJudge(flags, cacheFolder, context);
  const bounds = boundsOf(flags);
  const calibration = await calibrate(judge, context.signal);
  context.note(calibrationText(calibration, judge.identity));
  checkCalibration(calibration, bounds);
  return { judge, calibration };
}

function openFlaggedJudge(
  flags: JudgeFlags,
  cacheFolder: string,
  context: CliContext,
): Promise<Judge> {
  const { endpoint, apiKeyEnv, cache = cacheFolder, ...rest } = flags;
  const { model, prompt, verdictFormat, temperature: t, seed, maxTokens, tokenLimit } = rest;
  const { concurrency, timeoutMs, retries } = rest;
  const given = {
    baseUrl: parseOptions(serverAddress, endpoint, "--endpoint"),
    apiKeyEnv: apiKeyEnv === "none" ? null : apiKeyEnv,
    ...{ model, prompt, verdictFormat, temperature: t, seed, maxTokens, tokenLimit },
    ...{ concurrency, timeoutMs, retries },
  };
  const told = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = parseOptions(judgeSchema, Object.fromEntries(told), "judge");
  const kept =
    cache === false ? noCache : folderCache(typeof cache === "string" ? cache : cacheFolder);
  return openJudge(settings, { cache: kept, signal: context.signal });
}

function temperature(text: string): number | null {
  return text === "none" ? null : decimal(0)(text);
}
