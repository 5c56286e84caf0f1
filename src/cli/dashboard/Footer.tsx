import type { ReactNode } from "react";
import { type Line, piece, widthOf } from "../../view/styled.ts";
import { StyledLines } from "./StyledLines.tsx";

/** The keys, each with a short and a long description. */
export const KEYS: readonly { key: string; long: string; short: string; means: string }[] = [
  {
    key: "p",
    long: "pause",
    short: "pause",
    means: "pause after the current step; p again continues",
  },
  {
    key: "s",
    long: "save",
    short: "save",
    means: "save a checkpoint after the step under way; it stays until the next",
  },
  {
    key: "e",
    long: "evaluate",
    short: "eval",
    means: "evaluate on held-out questions after the step under way",
  },
  {
    key: "q",
    long: "stop after this step",
    short: "stop",
    means: "end with a checkpoint after the current step; --resume continues",
  },
  { key: "t", long: "next rollout", short: "next", means: "show another rollout of the step" },
  { key: "?", long: "help", short: "help", means: "show or hide this" },
  {
    key: "Ctrl-C",
    long: "interrupt",
    short: "end",
    means: "end now and keep finished steps; a second Ctrl-C kills the process",
  },
];

/** The available keys. */
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
