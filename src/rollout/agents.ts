import { answerIn } from "../env/protocols/protocol.ts";
import { seedFrom } from "../base/random.ts";
import type { AgentRunner } from "../env/tools/tool.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { closingStop } from "./endpoint/remote-message.ts";
import { type RolloutOptions, timed } from "./record.ts";
import { textSegment } from "./draft.ts";

/** Runs agents for tools: a model calls tools until it answers. Its calls are recorded as text under the role's name, never trained. */
export function agentRunner(options: RolloutOptions, trajectory: Trajectory): AgentRunner {
  const { protocol } = options.environment;
  const { calls } = trajectory;
  return async (role, { prompt, maxTurns = 1, tools = [], ...request }, call) => {
    const { role: _, stop: own = [], ...sampling } = request;
    const stop = tools.length > 0 ? [...own, ...protocol.stopStrings] : own;
    let conversation = prompt;
    let added = textSegment("template", prompt);
    let parent: number | null = null;
    for (let turn = 1; ; turn++) {
      const seed = seedFrom(options.seed, "agent", calls.length);
      const write = () =>
        role.complete(conversation, { ...sampling, stop, seed, signal: options.signal });
      const written = await timed(options, trajectory, "modelMs", write);
      const text = written + (tools.length > 0 ? closingStop(written, protocol) : "");
      calls.push({
        parent,
        role: role.name,
        policyVersion: null,
        prompt: [added],
        completion: [textSegment("policy", text)],
        finish: "stop",
      });
      parent = calls.length - 1;
      const { actions } = protocol.parse(text);
      const acts = tools.length > 0 && actions.length > 0 && actions[0]?.tool !== "answer";
      if (!acts || turn === maxTurns) {
        const answer = answerIn(protocol, { prompt: "", messages: [text] });
        return { text, answer, turns: turn };
      }
      const observations = [];
      for (const { tool, input } of actions) observations.push(await call(tool, input));
      const reply = protocol.renderObservations(observations);
      conversation += text + reply;
      added = textSegment("environment", reply);
    }
  };
}
