import type { ReactNode } from "react";
import type { RunEvent } from "../../watch/run-event.ts";
import { type Line, piece, type Style } from "../../view/styled.ts";
import { StyledLines } from "./StyledLines.tsx";

const STYLES: Record<RunEvent["kind"], Style> = {
  alarm: "bad",
  rollback: "note",
  "checkpoint-damaged": "bad",
  waiting: "note",
  lint: "plain",
  budgets: "note",
  exposed: "note",
  resumed: "plain",
  unscored: "bad",
  reporter: "dim",
};

/** The events of the run, the latest last. */
export function EventList(props: {
  events: readonly RunEvent[];
  rows: number;
  colours: boolean;
}): ReactNode {
  const { events, rows, colours } = props;
  const lines = events
    .slice(Math.max(0, events.length - rows))
    .map(({ kind, step, message }): Line => [
      piece(`step ${step} `, "dim"),
      piece(`${kind} `, STYLES[kind] === "plain" ? "bold" : STYLES[kind]),
      // A message becomes one line here; events.jsonl has its line breaks.
      piece(message.replaceAll(/\s+/g, " "), STYLES[kind] === "dim" ? "dim" : "plain"),
    ]);
  return <StyledLines lines={lines} colours={colours} />;
}
