import { quote, z } from "../base/schema.ts";

/**
 * Options of all HTTP clients: timeouts, retries, concurrency. The deadline includes the delays between
 * attempts, but not the waits for `concurrency`, for `requestsPerMinute` or for a pause that the server asked for.
 */
export const httpShape = {
  /** Milliseconds of one attempt, including its whole reply. */
  timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
  /** Milliseconds of all attempts of one request together. */
  deadlineMs: z.int().min(1).default(120_000),
  /** Retries after the first attempt. */
  retries: z.int().min(0).max(20).default(4),
  /** Upper limit of the first retry's delay, in milliseconds; doubles with each retry. */
  retryDelayMs: z.int().min(0).default(500),
  /** Requests in progress at once. */
  concurrency: z.int().min(1).max(1024).default(8),
  /** Limit on requests per minute, evenly spaced, including retries; null: no limit. */
  requestsPerMinute: z.number().positive().nullable().default(null),
  /** Limit of a reply in bytes, after decompression. */
  maxReplyBytes: z
    .int()
    .min(1)
    .default(64 * 2 ** 20),
};

/** HTTP settings, checked. */
export type HttpSettings = z.output<z.ZodObject<typeof httpShape>>;

const SECRET_PARAMETER = /key|token|secret|passw|signature|credential/i;

/**
 * The schema of a server's address: http or https, without secrets. Without a scheme it is http (`localhost:9001/v1`). No message
 * repeats an address that contains a secret.
 */
export const serverAddress: z.ZodType<string> = z
  .string()
  .overwrite(withScheme)
  .superRefine((address, context) => {
    const problem = addressProblem(address);
    if (problem === null) return;
    context.addIssue({ code: "custom", message: problem, params: { code: "RECIPE_BAD_VALUE" } });
  });

/** Whether a text can only be the address of a server: it starts with http://, https:// or HOST:PORT. */
export function isServerAddress(text: string): boolean {
  return /^https?:\/\//.test(withScheme(text));
}

/** @example withScheme("localhost:9001/v1") // "http://localhost:9001/v1" */
function withScheme(address: string): string {
  return /^([\w.-]+|\[[\da-f:]+\]):\d{1,5}(\/|$)/i.test(address) ? `http://${address}` : address;
}

function addressProblem(address: string): string | null {
  const secret =
    "contains a user name, password or key, which must come from the environment. Remove it from the address and set the option for its environment variable.";
  if (/^[^/?#]*(\/\/)?[^/?#]*@/.test(address)) return secret;
  if (!URL.canParse(address))
    return `is ${quote(address)}: expected the address of a server, such as http://127.0.0.1:8000.`;
  const { protocol, searchParams } = new URL(address);
  if ([...searchParams.keys()].some((name) => SECRET_PARAMETER.test(name))) return secret;
  if (protocol === "http:" || protocol === "https:") return null;
  return `is ${quote(address)}: expected an address that starts with http:// or https://.`;
}

/** The address of one request: base + path, with the parameters of both. */
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
