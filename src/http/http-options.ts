import { quote, z } from "../base/schema.ts";

/**
 * Options of everything that asks a server: how long, how often, how many at once. The total includes the waits between
 * attempts, not those for a free place under `concurrency`, for `requestsPerMinute` or while the server has asked others to wait.
 */
export const httpShape = {
  /** Milliseconds that one attempt may take, its whole reply included. */
  timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
  /** Milliseconds for all attempts of one request together. */
  deadlineMs: z.int().min(1).default(120_000),
  /** Attempts after the first. */
  retries: z.int().min(0).max(20).default(4),
  /** Longest wait before the first retry, in milliseconds; doubles with each further one. */
  retryDelayMs: z.int().min(0).default(500),
  /** Requests under way at once. */
  concurrency: z.int().min(1).max(1024).default(8),
  /** Requests sent in a minute at most, evenly spread, retries among them; null: as many as go. */
  requestsPerMinute: z.number().positive().nullable().default(null),
  /** Bytes of a reply, decompressed, beyond which it is refused. */
  maxReplyBytes: z
    .int()
    .min(1)
    .default(64 * 2 ** 20),
};

/** How to ask a server, checked. */
export type HttpSettings = z.output<z.ZodObject<typeof httpShape>>;

const SECRET_PARAMETER = /key|token|secret|passw|signature|credential/i;

/** The schema of a server's address: http or https, nothing secret in it. No message repeats an address that holds a secret. */
export const serverAddress: z.ZodType<string> = z.string().superRefine((address, context) => {
  const problem = addressProblem(address);
  if (problem === null) return;
  context.addIssue({ code: "custom", message: problem, params: { code: "RECIPE_BAD_VALUE" } });
});

function addressProblem(address: string): string | null {
  const secret =
    "holds a user name, password or key: these come from the environment only. Take it out of the address and name its variable.";
  if (/^[^/?#]*(\/\/)?[^/?#]*@/.test(address)) return secret;
  if (!URL.canParse(address)) {
    return `is ${quote(address)}: expected the address of a server, as in http://127.0.0.1:8000.`;
  }
  const { protocol, searchParams } = new URL(address);
  if ([...searchParams.keys()].some((name) => SECRET_PARAMETER.test(name))) return secret;
  if (protocol === "http:" || protocol === "https:") return null;
  return `is ${quote(address)}: expected an address that begins with http:// or https://.`;
}

/** The address of one request: the path is appended, parameters are added to those of the base. */
export function requestUrl(
  base: string,
  path: string,
  parameters: Readonly<Record<string, string>>,
): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/$/, "") + path;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}
