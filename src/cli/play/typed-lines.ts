import { createInterface } from "node:readline";

/** Lines of stdin. */
export interface TypedLines {
  /** null: the input has ended. @param prompt shown at a terminal. */
  next(prompt: string): Promise<string | null>;
  close(): void;
}

/** Lines that a person types at a terminal, or that a pipe holds. Ctrl-C at the prompt ends the input, as Ctrl-D. */
export function openTypedLines(): TypedLines {
  const { stdin: input, stderr: output } = process;
  const terminal = input.isTTY;
  const reader = createInterface(terminal ? { input, output } : { input });
  reader.on("SIGINT", () => {
    reader.close();
  });
  // Keeps lines that were pasted before they are asked for.
  const lines = reader[Symbol.asyncIterator]();
  let isClosed = false;
  reader.on("close", () => {
    isClosed = true;
  });
  return {
    async next(prompt) {
      if (terminal && !isClosed) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      const next = await lines.next();
      if (next.done !== true) return next.value;
      if (terminal) output.write("\n");
      return null;
    },
    close: () => {
      reader.close();
    },
  };
}
