import { choice, z } from "../base/schema.ts";
import { measuredModelShape } from "../http/chat-settings.ts";
import { isModel } from "../base/setting-path.ts";

/** Role of a reply of the environment: its own message, or part of the model's (as in Search-R1). */
export const replyPlaces = ["user", "tool", "inline"] as const;

/** Options of a policy with a chat template. */
export const chatSchema = z.strictObject({
  /** Role of a reply of the environment; `inline`: part of the model's own message. */
  replies: z.enum(replyPlaces).default("user"),
  /** System message; default: none, except the template's own. */
  system: z.string().optional(),
});

export type ChatOptions = z.output<typeof chatSchema>;

/** Options of a policy behind an HTTP server. */
export const endpointSchema = z.strictObject({
  ...measuredModelShape,
  /** chat: messages, with the server's own template. completions: one growing text, without a template. */
  api: z.enum(["chat", "completions"]).default("chat"),
  /** Most tokens of a reply, hidden thoughts included; default: the budget of a turn. */
  maxTokens: z.int().min(1).optional(),
  /** System message of a chat. */
  system: z.string().optional(),
  /** Further keys of each request's body. */
  extra: z.record(z.string(), z.unknown()).default({}),
});

/** Checked settings of a policy's server. */
export type EndpointSettings = z.output<typeof endpointSchema>;

const frozenModel = z.strictObject({
  /** As `policy.from`. Its weights are never trained. */
  from: z.string().meta(isModel()),
  /** Uses the chat template of its folder; without it prompts are sent unchanged. */
  chat: chatSchema.optional(),
});

const remoteModel = z.strictObject({
  /** A model behind an OpenAI-compatible server. */
  endpoint: endpointSchema,
});

const textEncoder = z.strictObject({
  /** A text embedding model, a folder or a name of the hub. It embeds texts and writes none. */
  encoder: z.string(),
});

const pastPolicy = z.strictObject({
  /** A snapshot of the policy, taken at step 0 and every `every` steps. It scores text and writes none. */
  policy: z.literal("snapshot"),
  every: z.int().min(1),
});

/** A model of a recipe. */
export type ModelSettings = z.output<
  typeof frozenModel | typeof remoteModel | typeof textEncoder | typeof pastPolicy
>;

/** Models of a recipe by name. */
export type ModelsSettings = Record<string, ModelSettings>;

/** The recipe's `models:`, by the name that rewards, tools and strategies use. */
export const modelsSchema = z.record(
  z
    .string()
    .regex(/^[A-Za-z]\w*(-\w+)*$/, "expected a name of letters, digits, _ and -")
    .refine((name) => name !== "policy", '"policy" is the policy itself; choose another name'),
  choice<ModelSettings>((given) => {
    const has = (key: string): boolean =>
      typeof given === "object" && given !== null && Object.hasOwn(given, key);
    if (has("endpoint")) return { schema: remoteModel, value: given };
    if (has("encoder")) return { schema: textEncoder, value: given };
    return { schema: has("policy") ? pastPolicy : frozenModel, value: given };
  }),
);
