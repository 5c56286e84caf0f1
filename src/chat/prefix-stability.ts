import { AgentrlError, ConfigError } from "../base/errors.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { ChatTemplate, RenderOptions, TemplateMessage } from "./chat-template.ts";
import { type Probe, PROBE_TOOLS, PROBES } from "./probes.ts";

/** A conversation whose text changes when the next message is added. */
export interface PrefixFinding {
  /** `text`: the text differs. `tokens`: only the token ids differ. */
  level: "text" | "tokens";
  /** error: later prompts change text that the policy saw or wrote. notice: only white space or the split into tokens would change. */
  severity: "error" | "notice";
  probe: string;
  messages: number;
  role: string;
  at: number;
  before: string;
  after: string;
}

export interface PrefixReport {
  findings: PrefixFinding[];
  compared: number;
  unchecked: { probe: string; error: AgentrlError }[];
}

export interface PrefixOptions {
  tokenizer?: Tokenizer;
  tools?: readonly unknown[];
  variables?: RenderOptions["variables"];
  probes?: readonly Probe[];
}

/** Tests that messages 0 to n render to a prefix of 0 to n + 1, generation prompt included; consecutive tool results are one step. */
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
 * Rejects a template under which a run would train on other text than it sampled; call it before a run. @returns the report.
 * @throws {ConfigError} CHAT_TEMPLATE_REWRITES with the place. @throws {DataError} CHAT_TEMPLATE_REFUSED, CHAT_TEMPLATE_BAD
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
    const also = others.length === 0 ? "" : ` The same happens in ${others.join(", ")}.`;
    const message = `${template.where}: ${prefixFindingText(first)}${also} Earlier turns must stay unchanged: use another template, or conversations with a single question.`;
    throw new ConfigError("CHAT_TEMPLATE_REWRITES", message);
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
  return `when the next message (${role}) is added, ${count} of "${probe}" change at ${place}: ${JSON.stringify(before)} becomes ${JSON.stringify(after)}.`;
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
    tools: probe.tools ? (options.tools ?? PROBE_TOOLS) : undefined,
    variables: options.variables,
  };
  for (let n = 1; n < messages.length; n++) {
    const next = messages[n] as TemplateMessage;
    if (next.role === "tool" && messages[n - 1]?.role === "tool") continue;
    const addGenerationPrompt = next.role === "assistant";
    // Some templates reject a conversation with only a system turn.
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
      severity,
      probe: probe.name,
      messages: n,
      role: next.role,
    });
  }
}

function wordsOf(text: string): string {
  return text.replace(/\s+/g, "");
}

/** The text that the policy itself writes for a message; empty when the template adds to it (calls, fields). */
function plainText(message: TemplateMessage): string {
  const { content } = message;
  const plain = message["tool_calls"] === undefined && message["reasoning_content"] === undefined;
  return plain && typeof content === "string" ? content : "";
}

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
