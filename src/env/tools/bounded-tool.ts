import { RolloutError } from "../../base/errors.ts";
import { quote } from "../../base/schema.ts";
import { defaultDeadlines, milliseconds } from "../../base/waits/deadlines.ts";
import { seconds } from "../../base/waits/long-wait.ts";
import { waits } from "../../base/waits/waits.ts";
import type { Tool, ToolResources } from "./tool.ts";

/**
 * A tool that is waited for no longer than its deadline, and named while it is waited for. A search that hangs so costs one trajectory, not
 * the run.
 *
 * @param name the tool's part, as recipes name it.
 * @throws {RolloutError} from its calls, TOOL_TIMEOUT past the deadline.
 */
export function boundedTool(
  name: string,
  tool: Tool,
  {
    deadlineMs = milliseconds(defaultDeadlines.toolSeconds),
    register = waits,
  }: Pick<ToolResources, "deadlineMs" | "register">,
): Tool {
  const owner = `tool ${name}`;
  return {
    ...tool,
    call(input, context) {
      const { trajectoryId, task, signal } = context;
      const subject = (): string =>
        `${trajectoryId === "" ? `task ${task.id}` : `trajectory ${trajectoryId}`} (${tool.argument} ${quote(input)})`;
      const late = ({ waitedMs }: { waitedMs: number }): RolloutError =>
        new RolloutError(
          "TOOL_TIMEOUT",
          `${owner}: no answer in ${seconds(waitedMs)} for ${subject()}. Look whether what it asks is stuck; deadlines.toolSeconds says how long is waited.`,
        );
      return register.waitFor({ owner, subject }, { deadlineMs, signal, late }, (until) =>
        tool.call(input, { ...context, signal: until }),
      );
    },
  };
}
