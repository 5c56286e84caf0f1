/** The output for text. */
export interface Screen {
  columns: number;
  colours: boolean;
}

/** Columns of a pipe, and the most used columns of a terminal: longer lines are hard to read. */
const [PIPE_COLUMNS, MOST_COLUMNS] = [100, 180];

/** Colours on a terminal, unless NO_COLOR (no-color.org: set and not empty) or `plain`; FORCE_COLOR adds them in a pipe. */
export function screenOf(
  stream: { isTTY?: boolean; columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
  plain = false,
): Screen {
  const isSet = (name: string): boolean => !["", undefined].includes(environment[name]);
  const terminal = stream.isTTY === true;
  const able = (terminal && environment["TERM"] !== "dumb") || isForced(environment);
  return {
    columns: terminal ? Math.min(stream.columns ?? 80, MOST_COLUMNS) : PIPE_COLUMNS,
    colours: able && !isSet("NO_COLOR") && !plain,
  };
}

function isForced(environment: Readonly<Record<string, string | undefined>>): boolean {
  const value = environment["FORCE_COLOR"] ?? "";
  return value !== "" && value !== "0";
}
