import type { Part } from "../../base/registry.ts";
import type { PreferencePair, Provenance, Sample } from "../../trajectory/sample.ts";
import type { Message, Telling } from "./conversation.ts";

/** Rows of one record, or a short reason why the format cannot hold it. */
export type ExportedRows = object[] | string;

interface Format extends Part {
  readonly source: string;
  readonly calls: Telling["calls"];
  /** Parts of a record that the format cannot hold; reported once. */
  readonly loses: readonly string[];
}

/** Another program's file layout for samples. */
export interface SampleFormat extends Format {
  readonly takes: "samples";
  rows(
    sample: Sample,
    conversations: readonly Message[][],
    telling: Telling,
    index: number,
  ): ExportedRows;
}

/** Another program's file layout for preference pairs. */
export interface PairFormat extends Format {
  readonly takes: "pairs";
  rows(
    pair: PreferencePair,
    sides: Record<"chosen" | "rejected", readonly Message[][]>,
    telling: Telling,
  ): ExportedRows;
}

export type ExportFormat = SampleFormat | PairFormat;

/** A message for Hugging Face chat templates: arguments of calls are objects. */
export function templateMessage({ role, content, reasoning, calls, name }: Message): object {
  return {
    role,
    content,
    reasoning_content: reasoning,
    tool_calls:
      calls === undefined
        ? undefined
        : calls.map((call) => {
            return { type: "function", function: { name: call.name, arguments: call.arguments } };
          }),
    name,
  };
}

/** Columns for a row's origin. Provenance is JSON text, because a table column has one type. */
export function originColumns({ id, provenance }: { id: string; provenance: Provenance }): object {
  return { id, provenance: JSON.stringify(provenance) };
}

/** The tools' schemas, which chat templates take beside native calls. */
export function toolsColumn({ calls, tools }: Telling): { tools?: Telling["tools"] } {
  return calls === "native" ? { tools } : {};
}
