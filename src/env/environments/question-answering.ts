import { partSchema } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { quote, z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { protocols } from "../protocols/index.ts";
import type { Protocol } from "../protocols/protocol.ts";
import { type OpenToolbox, needsOf, openToolbox, toolsSchema } from "../tools/toolbox.ts";
import {
  type Environment,
  type EnvironmentPart,
  type Episode,
  type Player,
  type StepResult,
  defineEnvironment,
} from "./environment.ts";

interface Kind {
  name: string;
  summary: string;
  protocol: string;
  tools: readonly string[];
  player?: Player;
  words?: readonly string[];
  act: string;
}

/** An environment of questions that are answered with tools over several turns. */
export function questionAnswering(kind: Kind): EnvironmentPart {
  const { name, summary, player, words } = kind;
  const options = optionsOf(kind);
  return defineEnvironment({
    name,
    summary,
    options,
    example: { act: kind.act, last: "<answer>Oslo</answer>", end: "answered" },
    words,
    needs: ({ tools }) => needsOf(tools),
    create(settings, resources) {
      const toolbox = openToolbox(settings.tools, resources);
      const { name: protocolName, ...protocolOptions } = settings.protocol;
      const protocol = protocols
        .get(protocolName, "environment.protocol")
        .create(protocolOptions, { tools: toolbox.schemas, answers: true });
      requireCallable(protocolName, protocol, toolbox.schemas);
      if (settings.reissue === "memory") requireMemory(protocolName, protocol);
      const instructions = protocol.instructions(toolbox.schemas);
      const renderPrompt = (task: Task, context = ""): string => {
        if (context !== "" && !settings.prompt.includes("{context}")) {
          const message = `environment.prompt is ${quote(settings.prompt)}: without {context} it cannot show what was found before, by a strategy or with environment.reissue. Put {context} where passages belong.`;
          throw new ConfigError("RECIPE_BAD_VALUE", message);
        }
        const filled: Record<string, string> = { question: task.question, context, instructions };
        // In one pass, and not as replacement patterns: a question may itself hold "{context}" or "$&".
        return settings.prompt.replace(
          /\{(question|context|instructions)\}/g,
          (_, key: string) => filled[key] ?? "",
        );
      };
      const { search } = toolbox;
      const environment: Environment = {
        name,
        protocol,
        budgets: resources.budgets ?? [],
        answers: true,
        readsGold: toolbox.readsGold,
        toolSchemas: toolbox.schemas,
        renderPrompt,
        reissues: settings.reissue === false ? undefined : settings.reissue,
        searching: search === undefined ? undefined : { search },
        player,
        start: (task, context) => {
          const { onInvalid } = settings;
          const setting = { prompt: renderPrompt(task), protocol, onInvalid };
          return startEpisode(setting, toolbox.open({ task, ...context }), 0);
        },
      };
      return environment;
    },
  });
}

/** Refuses a tool whose call the grammar would read as something else. @throws {ConfigError} TOOL_UNCALLABLE */
function requireCallable(
  name: string,
  protocol: Protocol,
  tools: Environment["toolSchemas"],
): void {
  const isCallable = (tool: string): boolean => {
    const message = protocol.write({ thought: "", action: { tool, input: "1" } }, tools);
    return protocol.parse(message).actions.some((action) => action.tool === tool);
  };
  const names = tools.map((tool) => tool.function.name);
  const uncallable = names.find((tool) => !isCallable(tool));
  if (uncallable === undefined) return;
  const problem = `environment.tools: no message in the grammar of protocol "${name}" can call "${uncallable}"; it can call ${names.filter(isCallable).join(", ") || "none of the tools"}. Use protocol tags or hermes, which call every tool by its name, or remove the tool.`;
  throw new ConfigError("TOOL_UNCALLABLE", problem);
}

/** Refuses a grammar whose messages hold only an action. @throws {ConfigError} RECIPE_BAD_VALUE */
function requireMemory(name: string, { tags }: Protocol): void {
  if (tags.some(({ holds }) => holds === "block" || holds === "thought")) return;
  const message = `environment.reissue is "memory", and the messages of protocol "${name}" have neither thoughts nor blocks, so the policy has no place for a memory. Set environment.protocol.blocks to [memory], or take thoughts: false out.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function optionsOf({ protocol, tools }: Kind) {
  return z.strictObject({
    protocol: partSchema(protocols).prefault(protocol),
    /** None: questions answered in one message, from what the prompt shows. */
    tools: toolsSchema.prefault([...tools]),
    /**
     * The first message to the policy. {question} is filled in, {context} by strategies that search first, and {instructions} with the
     * protocol's grammar, for policies that were not trained on it.
     */
    prompt: z
      .string()
      .refine((text) => text.includes("{question}"), "expected {question} somewhere in it")
      .default("Question: {question}\n{context}"),
    /** What a message without a valid action leads to: the protocol's correction and another turn, or the end. */
    onInvalid: z.enum(["retry", "end"]).default("retry"),
    /**
     * Every message answers a new prompt, and {context} in it shows all results so far (true), or the last message and its results alone (memory):
     * then the policy must write down again what it is to remember. By default one text grows.
     */
    reissue: z.union([z.boolean(), z.literal("memory")]).optional(),
  });
}

type Setting = { prompt: string; protocol: Protocol; onInvalid: "retry" | "end" };

function startEpisode(setting: Setting, toolbox: OpenToolbox, fromTurn: number): Episode {
  const { prompt, protocol, onInvalid } = setting;
  let turn = fromTurn;
  return {
    prompt,
    fork: () => startEpisode(setting, toolbox.fork(), turn),
    close: () => toolbox.close(),
    async step(message, { final, signal, runAgent }) {
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
      const at = { turn: turn - 1, signal, runAgent };
      const observations: Observation[] = [];
      for (const each of actions) observations.push(await toolbox.call(each, at));
      if (observations.some(({ answer }) => answer !== undefined))
        return { actions, problems, observations, reply: null, end: "answered" };
      if (onInvalid === "end" && observations.every(({ problem }) => problem !== undefined))
        return { actions, problems, observations, reply: null, end: "invalid" };
      const reply = protocol.renderObservations(observations);
      return { actions, problems, observations, reply, end: null };
    },
  };
}
