import { AgentrlError, ConfigError } from "../base/errors.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { ChatTemplate, RenderOptions, TemplateMessage } from "./chat-template.ts";
import { type Probe, PROBE_TOOLS, PROBES } from "./probes.ts";

/** A place where a conversation that goes on does not begin as it stood before. */
export interface PrefixFinding {
  /** Where it shows: in the text, or only in the token ids of texts of which one begins with the other. */
  level: "text" | "tokens";
  /**
   * An error: what a policy was shown or has written stands otherwise in later prompts. A notice: the white space around what it
   * has written does, or tokens would be cut otherwise if the text were encoded again; neither shows in a run that keeps the ids
   * that were sampled.
   */
  severity: "error" | "notice";
  /** The probe's name. */
  probe: string;
  /** Messages that stood before the next came. */
  messages: number;
  /** Role of the message that came. */
  role: string;
  /** Characters (UTF-16 units) or tokens up to the first difference. */
  at: number;
  /** The text around it, as it stood before. */
  before: string;
  /** The text around it, as it stands then. */
  after: string;
}

export interface PrefixReport {
  /** At most one per probe and level. */
  findings: PrefixFinding[];
  /** Steps from n to n + 1 messages that were compared. */
  compared: number;
  /** Probes that the template does not take, or not to their end. */
  unchecked: { probe: string; error: AgentrlError }[];
}

export interface PrefixOptions {
  /** Compares token ids too. */
  tokenizer?: Tokenizer;
  /** The tools that the run will offer; a search tool when absent. */
  tools?: readonly unknown[];
  /** As the run will give them to the template. */
  variables?: RenderOptions["variables"];
  probes?: readonly Probe[];
}

/**
 * Tries whether a conversation's text only ever grows: whether what messages 0 to n give is how messages 0 to n + 1 begin. Before
 * an assistant's message the first includes the generation prompt and, for a message of plain text, that text, as a policy will
 * have written it. Several results of tools that follow each other come as one step.
 */
export function checkPrefixes(template: ChatTemplate, options: PrefixOptions = {}): PrefixReport {
  const report: PrefixReport = { findings: [], compared: 0, unchecked: [] };
  for (const probe of options.probes ?? PROBES) {
    try {
      checkProbe(template, probe, options, report);
    } catch (error) {
      if (!(error instanceof AgentrlError)) throw error;
      report.unchecked.push({ probe: probe.name, error });
    }
  }
  return report;
}

/**
 * Refuses a template under which a run would train on other text than was sampled; for use before a run.
 *
 * @returns the report, for its notices.
 * @throws {ConfigError} CHAT_TEMPLATE_REWRITES naming the first such place with the text around it.
 * @throws {DataError} CHAT_TEMPLATE_REFUSED or CHAT_TEMPLATE_BAD when it takes no probe at all.
 */
export function requireStablePrefixes(
  template: ChatTemplate,
  options: PrefixOptions = {},
): PrefixReport {
  const report = checkPrefixes(template, options);
  const errors = report.findings.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first !== undefined) {
    const others = errors.slice(1).map(({ probe }) => `"${probe}"`);
    const also = others.length === 0 ? "" : ` So it is with ${others.join(", ")}.`;
    throw new ConfigError(
      "CHAT_TEMPLATE_REWRITES",
      `${template.where}: ${prefixFindingText(first)}${also} Earlier turns must stay as they were written: give a template without this, or one conversation of a single question.`,
    );
  }
  const [refusal] = report.unchecked;
  if (report.compared === 0 && refusal !== undefined) throw refusal.error;
  return report;
}

/** A finding as a sentence. */
export function prefixFindingText(finding: PrefixFinding): string {
  const { level, probe, messages, role, at, before, after } = finding;
  const count = messages === 1 ? "the first message" : `the first ${messages} messages`;
  const place = level === "text" ? `character ${at}` : `token ${at}`;
  return `when the next message (${role}) comes, ${count} of "${probe}" read otherwise from ${place}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}.`;
}

function checkProbe(
  template: ChatTemplate,
  probe: Probe,
  options: PrefixOptions,
  report: PrefixReport,
): void {
  const { messages } = probe;
  const found = new Set<PrefixFinding["level"]>();
  const shared = {
    ...(probe.tools ? { tools: options.tools ?? PROBE_TOOLS } : {}),
    ...(options.variables === undefined ? {} : { variables: options.variables }),
  };
  for (let n = 1; n < messages.length; n++) {
    const next = messages[n] as TemplateMessage;
    if (next.role === "tool" && messages[n - 1]?.role === "tool") continue;
    const addGenerationPrompt = next.role === "assistant";
    // Some templates take no conversation that is only a system turn.
    if (n === 1 && messages[0]?.role === "system" && !addGenerationPrompt) continue;
    const shown = template.render(messages.slice(0, n), { ...shared, addGenerationPrompt });
    const left = addGenerationPrompt ? shown + plainText(next) : shown;
    const right = template.render(messages.slice(0, n + 1), shared);
    report.compared += 1;
    const difference = firstDifference(left, right, options.tokenizer);
    if (difference === null || found.has(difference.level)) continue;
    found.add(difference.level);
    const keepsWords = right.startsWith(shown) && wordsOf(right).startsWith(wordsOf(left));
    const severity = difference.level === "tokens" || keepsWords ? "notice" : "error";
    report.findings.push({
      ...difference,
      ...{ severity, probe: probe.name, messages: n, role: next.role },
    });
  }
}

function wordsOf(text: string): string {
  return text.replace(/\s+/g, "");
}

/** What the policy itself will have written of a message; nothing where the template adds to it (calls, fields). */
function plainText(message: TemplateMessage): string {
  const { content } = message;
  const plain = message["tool_calls"] === undefined && message["reasoning_content"] === undefined;
  return plain && typeof content === "string" ? content : "";
}

/** Characters of text shown on either side of a difference. */
const AROUND = 40;

type Difference = Pick<PrefixFinding, "level" | "at" | "before" | "after">;

function firstDifference(left: string, right: string, tokenizer?: Tokenizer): Difference | null {
  const at = sharedLength(left, right, left.length);
  if (at < left.length) {
    const around = (text: string): string => text.slice(Math.max(0, at - AROUND), at + AROUND);
    return { level: "text", at, before: around(left), after: around(right) };
  }
  if (tokenizer === undefined) return null;
  const [ids, further] = [tokenizer.encodeStart(left), tokenizer.encodeStart(right)];
  const token = sharedLength(ids, further, ids.length);
  if (token === ids.length) return null;
  const around = (all: readonly number[]): string =>
    tokenizer.decode(all.slice(Math.max(0, token - 4), token + 4));
  return { level: "tokens", at: token, before: around(ids), after: around(further) };
}

function sharedLength<T>(a: ArrayLike<T>, b: ArrayLike<T>, length: number): number {
  let at = 0;
  while (at < length && a[at] === b[at]) at += 1;
  return at;
}
