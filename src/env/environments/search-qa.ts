import { ConfigError, InternalError } from "../../base/errors.ts";
import { partSchema } from "../../base/part-schema.ts";
import { parseOptions, quote, z } from "../../base/schema.ts";
import { type SearchContext, readsGold } from "../../retrieval/retriever.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Action, Observation } from "../../trajectory/trajectory.ts";
import { budgetSchema } from "../budget.ts";
import { protocols } from "../protocols/index.ts";
import type { Protocol } from "../protocols/protocol.ts";
import { boundedTool } from "../tools/bounded-tool.ts";
import { tools } from "../tools/index.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { Environment, EnvironmentPart, Episode, StepResult } from "./environment.ts";

const options = z.strictObject({
  protocol: partSchema(protocols).prefault("search-r1"),
  tools: z.array(partSchema(tools)).min(1).prefault(["corpus-search"]),
  /**
   * The first message to the policy. {question} is filled in, {context} by strategies that search first, and {instructions} with the
   * protocol's grammar, for policies that were not trained on it.
   */
  prompt: z
    .string()
    .refine((text) => text.includes("{question}"), "expected {question} somewhere in it")
    .default("Question: {question}\n{context}"),
  /** At most one per scope. */
  budgets: z
    .array(budgetSchema)
    .refine(
      (budgets) => new Set(budgets.map(({ scope }) => scope)).size === budgets.length,
      "expected at most one budget per scope",
    )
    .default([]),
  /** What a message without a valid action leads to: the protocol's correction and another turn, or the end. */
  onInvalid: z.enum(["retry", "end"]).default("retry"),
});

/** Questions answered by searching a corpus over several turns. */
export const searchQa: EnvironmentPart = {
  name: "search-qa",
  summary: "Questions answered by searching a corpus over several turns.",
  options,
  create(given, resources) {
    const settings = parseOptions(options, given, "search-qa");
    const { name: protocolName, ...protocolOptions } = settings.protocol;
    const protocol = protocols.get(protocolName, "environment.protocol").create(protocolOptions);
    const partOf = (name: string) => tools.get(name, "environment.tools");
    const toolbox = settings.tools.map(({ name, ...toolOptions }) =>
      boundedTool(name, partOf(name).create(toolOptions, resources), resources),
    );
    const renderPrompt = (task: Task, context = ""): string => {
      if (context !== "" && !settings.prompt.includes("{context}")) {
        throw new ConfigError(
          "RECIPE_BAD_VALUE",
          `environment.prompt is ${quote(settings.prompt)}: without {context} it cannot show what a strategy searched for first. Put {context} where passages belong.`,
        );
      }
      const filled: Record<string, string> = { question: task.question, context, instructions };
      // In one go, and not as replacement patterns: a question may itself hold "{context}" or "$&".
      return settings.prompt.replace(
        /\{(question|context|instructions)\}/g,
        (_, key: string) => filled[key] ?? "",
      );
    };
    const toolSchemas = toolbox.map(schemaOf);
    const instructions = protocol.instructions(toolSchemas);
    const search = toolbox.find((tool) => tool.name === "search");
    const environment: Environment = {
      protocol,
      budgets: settings.budgets,
      readsGold:
        readsGold(resources.retriever) || settings.tools.some(({ name }) => partOf(name).readsGold),
      toolSchemas,
      renderPrompt,
      start: (task, { trajectoryId, progress }) => {
        const searchContext = { task, ...(progress === undefined ? {} : { progress }) };
        const setting = {
          searchContext,
          trajectoryId,
          prompt: renderPrompt(task),
          toolbox,
          protocol,
        };
        return startEpisode({ ...setting, onInvalid: settings.onInvalid }, 0);
      },
      search: (query, searchContext, signal) => {
        if (search === undefined)
          throw new InternalError("TOOL_MISSING", "search-qa has no search tool.");
        return search.call(query, { trajectoryId: "", ...searchContext, turn: 0, signal });
      },
    };
    return environment;
  },
};

interface Setting {
  searchContext: SearchContext;
  trajectoryId: string;
  prompt: string;
  toolbox: readonly Tool[];
  protocol: Protocol;
  onInvalid: "retry" | "end";
}

function startEpisode(setting: Setting, fromTurn: number): Episode {
  const { searchContext, trajectoryId, prompt, toolbox, protocol, onInvalid } = setting;
  let turn = fromTurn;
  return {
    prompt,
    fork: () => startEpisode(setting, turn),
    async step(message, { final, signal }) {
      const { actions, problems } = protocol.parse(message);
      const ended = (end: StepResult["end"]): StepResult => {
        return { actions, problems, observations: [], reply: null, end };
      };
      const [action] = actions;
      turn += 1;
      if (action?.tool === "answer") return ended("answered");
      if (final) return ended("turn-limit");
      if (action === undefined) {
        if (onInvalid === "end") return ended("invalid");
        const reply = protocol.renderProblems(problems);
        return { actions, problems, observations: [], reply, end: null };
      }
      const context = { trajectoryId, ...searchContext, turn: turn - 1, signal };
      const observations: Observation[] = [];
      for (const each of actions) observations.push(await callTool(toolbox, each, context));
      if (onInvalid === "end" && observations.every(({ problem }) => problem !== undefined)) {
        return { actions, problems, observations, reply: null, end: "invalid" };
      }
      const reply = protocol.renderObservations(observations);
      return { actions, problems, observations, reply, end: null };
    },
  };
}

/** What came of one call; one that cannot be run is answered by why. */
async function callTool(
  toolbox: readonly Tool[],
  { tool: name, input }: Action,
  context: ToolContext,
): Promise<Observation> {
  const tool = toolbox.find((each) => each.name === name);
  if (tool !== undefined) return tool.call(input, context);
  const known = toolbox.map((each) => each.name).join(", ");
  const text =
    name === ""
      ? `That call was not run: ${input}.`
      : `There is no tool "${name}". There are: ${known}.`;
  const code = name === "" ? "bad-call" : "unknown-tool";
  return { tool: name, text, problem: { code, message: text } };
}

function schemaOf({ name, description, argument }: Tool): ToolSchema {
  const properties = { [argument]: { type: "string" } };
  const parameters = { type: "object", properties, required: [argument] };
  return { type: "function", function: { name, description, parameters } };
}
