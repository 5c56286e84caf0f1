import type { Environment } from "../env/environments/environment.ts";
import type { Protocol, ProtocolTag } from "../env/protocols/protocol.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { exportedRewards } from "./exported-rewards.ts";
import { learningRates } from "./shared-rules.ts";
import { exportedBudgets } from "./translated-rules.ts";

/** Where `agentrl serve` is started for an export. */
const SERVED_URL = "http://127.0.0.1:8000/retrieve";

/** The address of /retrieve: the retriever's own where it is such a server. */
function searchUrl({ retriever }: Settings): string {
  const own = serverOf(retriever);
  return own === null ? SERVED_URL : `${own}/retrieve`;
}

/** The server that answers as the episodes ask; null: `agentrl serve` stands for the retriever. */
export function serverOf({ name, ...options }: Settings["retriever"]): string | null {
  const { url } = options as { url?: unknown };
  return name === "search-r1-server" && typeof url === "string"
    ? url.replace(/\/retrieve\/?$|\/$/, "")
    : null;
}

/** The content of experiment.json: all that the exported Python reads of a recipe. */
export function experimentOf(
  settings: Settings,
  environment: Environment,
  model: { path: string; endIds: readonly number[] },
): object {
  const { chat = null, lora } = settings.policy;
  const { tools } = settings.environment as unknown as { tools: ExportedTool[] };
  const { turns, turnTokens = 500, ...budgets } = exportedBudgets(settings.budgets);
  return {
    policy: { ...model, chat, lora: lora === undefined ? null : loraConfig(lora) },
    protocol: {
      ...protocolOf(environment.protocol),
      onInvalid: (settings.environment as Record<string, unknown>)["onInvalid"],
    },
    tool: { topK: tools[0]?.topK, show: tools[0]?.show },
    searchUrl: searchUrl(settings),
    budgets: {
      turns,
      turnTokens,
      observationTokens: budgets.observationTokens ?? null,
      contextTokens: budgets.contextTokens ?? null,
    },
    ...exportedRewards(settings),
    sampling: settings.sampling,
    evaluationSampling: settings.evaluation.sampling,
    learningRates: learningRates(settings),
  };
}

/** corpus-search, the only tool of an export. */
interface ExportedTool {
  topK: number;
  show: string;
}

/** In the words of PEFT. */
function loraConfig(lora: NonNullable<Settings["policy"]["lora"]>): object {
  const { rank, alpha, rslora, targets } = lora;
  return { r: rank, lora_alpha: alpha, use_rslora: rslora, target_modules: targets };
}

const RESULT = "\u2063result\u2063";

/** A grammar of tags as data, read from what it does. */
function protocolOf(protocol: Protocol): object {
  const pairOf = (holds: ProtocolTag["holds"]): [string, string] => {
    const { opening = "", closing = "" } = protocol.tags.find((tag) => tag.holds === holds) ?? {};
    return [opening, closing];
  };
  const [call, answer] = [pairOf("call"), pairOf("answer")];
  const observation = { tool: "search", text: RESULT, passageIds: [] };
  const [before = "", after = ""] = protocol.renderObservations([observation]).split(RESULT);
  const answerThenCall = `${answer.join("a")}${call.join("q")}`;
  return {
    call,
    answer,
    result: [before, after],
    /** Whether a message with both ends at its call, even behind the answer. */
    callsFirst: protocol.findCut(answerThenCall) === answerThenCall.length,
    stop: protocol.stopStrings,
    invalid: protocol.renderProblems([{ code: "no-action", message: "" }]),
    answerRule: protocol.answer,
  };
}
