import { parseOptions } from "../../base/schema.ts";
import { judgeSchema, VERDICT_FORMATS } from "../../evaluate/judge/judge-asker.ts";
import {
  calibrate,
  type Calibration,
  type CalibrationBounds,
  checkCalibration,
  type Judge,
  openJudge,
} from "../../evaluate/judge/judge.ts";
import { serverAddress } from "../../http/http-options.ts";
import { folderCache, noCache } from "../../http/reply-cache.ts";
import { judgePrompts } from "../../rewards/judge/judge-prompts.ts";
import { calibrationBlocks } from "../../view/documents/judge.ts";
import type { CliContext } from "../command.ts";
import { endpointOptions, endpointValues } from "../endpoint-flags.ts";
import { anyOf, decimal, type Flags, options, pluginFlag, wholeNumber } from "../options.ts";

/** Default minimum of both calibration rates. */
const BOUNDS: CalibrationBounds = { minimum: 0.9, maxUnparsed: 0.05 };

/** Cache folder of the commands without an --out. */
export const JUDGE_CACHE = "runs/judge-cache";

/** Options of every command that asks a judge. @param cache default of --cache. */
export function judgeOptions(cache: string) {
  const prompts = judgePrompts.parts.map(({ name, summary }) => `${name}: ${summary}`).join(" ");
  return options({
    endpoint: ["<url>", "OpenAI-compatible server, with its version: http://127.0.0.1:8000/v1"],
    model: ["<name>", "model name on the server"],
    ...endpointOptions({ maxTokens: "512", cache }),
    prompt: ["<name>", `${prompts} Or one of a plug-in.`, anyOf(judgePrompts.names)],
    plugin: pluginFlag(),
    verdictFormat: [
      "<form>",
      "how to request JSON from the server (auto: the first way that it accepts)",
      ["auto", ...VERDICT_FORMATS],
    ],
    temperature: [
      "<t>",
      "sampling temperature; none leaves it to the server (default: 0)",
      temperature,
    ],
    seed: ["<n>", "sent with each request (default: 0)", wholeNumber(0)],
    tokenLimit: [
      "<key>",
      "name of that limit in the request",
      ["max_tokens", "max_completion_tokens"],
    ],
    minCalibration: [
      "<share>",
      `smallest share of known right answers accepted and of known wrong ones rejected (default: ${BOUNDS.minimum})`,
      decimal(0, 1),
    ],
    maxUnparsed: [
      "<share>",
      `largest share of unreadable verdicts (default: ${BOUNDS.maxUnparsed})`,
      decimal(0, 1),
    ],
  });
}

/** Flags of a command that asks a judge. */
export type JudgeFlags = Flags<ReturnType<typeof judgeOptions>> & {
  endpoint: string;
  model: string;
};

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
  context.note(calibrationBlocks(calibration, judge.identity));
  checkCalibration(calibration, bounds);
  return { judge, calibration };
}

function openFlaggedJudge(
  flags: JudgeFlags,
  cacheFolder: string,
  context: CliContext,
): Promise<Judge> {
  const { endpoint, model, prompt, verdictFormat, temperature: t, seed, tokenLimit } = flags;
  const { cache = cacheFolder, ...asking } = endpointValues(flags);
  const given = { model, prompt, verdictFormat, temperature: t, seed, tokenLimit };
  const told = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings = parseOptions(
    judgeSchema,
    {
      ...asking,
      ...Object.fromEntries(told),
      baseUrl: parseOptions(serverAddress, endpoint, "--endpoint"),
    },
    "judge",
  );
  const kept = typeof cache === "string" ? folderCache(cache) : noCache;
  return openJudge(settings, { cache: kept, signal: context.signal });
}

function temperature(text: string): number | null {
  return text === "none" ? null : decimal(0)(text);
}
