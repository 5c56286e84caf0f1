import { z } from "../../base/schema.ts";
import { chatShape } from "../../http/chat-settings.ts";
import { judgePrompts } from "./prompts/index.ts";

/** How a server is told to reply with JSON, strictest first. `auto` takes the first that it accepts. */
export const VERDICT_FORMATS = ["schema", "object", "text"] as const;

/** One of `VERDICT_FORMATS`. */
export type VerdictFormat = (typeof VERDICT_FORMATS)[number];

/** Everything that can be said about a judge: the server, and how it is asked. */
export const judgeSchema = z.strictObject({
  ...chatShape,
  prompt: z.enum(judgePrompts.names).default("equivalence"),
  verdictFormat: z.enum(["auto", ...VERDICT_FORMATS]).default("auto"),
  /** null leaves it to the server: some reasoning models refuse any. */
  temperature: z.number().min(0).nullable().default(0),
  /** Sent with each request; the r-th repeat of a question is asked with `seed` + r. */
  seed: z.int().min(0).default(0),
  /** Tokens of a reply; a judge that thinks aloud needs thousands. */
  maxTokens: z.int().min(1).default(512),
});

/** Settings of a judge, checked. */
export type JudgeSettings = z.output<typeof judgeSchema>;
