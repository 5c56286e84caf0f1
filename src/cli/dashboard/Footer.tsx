import type { ReactNode } from "react";
import { type Line, piece, widthOf } from "../trace/styled.ts";
import { StyledLines } from "./StyledLines.tsx";

/** What keys do, in a word and in a sentence. */
export const KEYS: readonly { key: string; long: string; short: string; means: string }[] = [
  {
    ...{ key: "p", long: "pause", short: "pause" },
    means: "wait after the step under way; p again goes on",
  },
  {
    ...{ key: "s", long: "save", short: "save" },
    means: "save a checkpoint after the step under way; it stays until the next",
  },
  {
    ...{ key: "e", long: "evaluate", short: "eval" },
    means: "evaluate on held-out questions after the step under way",
  },
  {
    ...{ key: "q", long: "stop after this step", short: "stop" },
    means: "end with a checkpoint after the step under way; --resume goes on",
  },
  { key: "t", long: "next rollout", short: "next", means: "show another rollout of the step" },
  { key: "?", long: "help", short: "help", means: "show or hide this" },
  {
    ...{ key: "Ctrl-C", long: "interrupt", short: "end" },
    means: "end now and keep what is finished; once more kills",
  },
];

/** What may be pressed. */
export function Footer(props: { able: boolean; columns: number; colours: boolean }): ReactNode {
  const { able, columns, colours } = props;
  return <StyledLines lines={[able ? keyLine(columns) : noKeys()]} colours={colours} />;
}

function keyLine(columns: number): Line {
  const spelled = (length: "long" | "short"): Line =>
    KEYS.flatMap(({ key, ...words }, i) => [
      piece(i === 0 ? "" : "  "),
      piece(key, "bold"),
      piece(` ${words[length]}`, "dim"),
    ]);
  const long = spelled("long");
  return widthOf(long) <= columns ? long : spelled("short");
}

function noKeys(): Line {
  return [piece("no keys: stdin is not a terminal · Ctrl-C interrupts", "dim")];
}
