import type { Part } from "../../base/registry.ts";
import type { PreferencePair, Provenance, Sample } from "../../trajectory/sample.ts";
import type { Message, Telling } from "./conversation.ts";

/** What an export makes of one record: rows, or why it cannot hold it, in a few words. */
export type ExportedRows = object[] | string;

interface Format extends Part {
  /** Which library's page, or whose file, the layout is from. */
  readonly source: string;
  /** How calls of tools are told unless asked otherwise. */
  readonly calls: Telling["calls"];
  /** What of a record the format has no place for: told once. */
  readonly loses: readonly string[];
}

/** A layout of another program that samples can be written in. */
export interface SampleFormat extends Format {
  readonly takes: "samples";
  /** @param index of the record in its file, from 0. */
  rows(sample: Sample, telling: Telling, index: number): ExportedRows;
}

/** A layout of another program that preference pairs can be written in. */
export interface PairFormat extends Format {
  readonly takes: "pairs";
  rows(pair: PreferencePair, telling: Telling, index: number): ExportedRows;
}

export type ExportFormat = SampleFormat | PairFormat;

/** A message as chat templates of Hugging Face take it: arguments of calls are objects. */
export function templateMessage({ role, content, reasoning, calls, name }: Message): object {
  return {
    ...{ role, content },
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls === undefined
      ? {}
      : {
          tool_calls: calls.map((call) => {
            return { type: "function", function: { name: call.name, arguments: call.arguments } };
          }),
        }),
    ...(name === undefined ? {} : { name }),
  };
}

/** Columns that say where a row comes from. Provenance is JSON text: tables want one type a column. */
export function originColumns({ id, provenance }: { id: string; provenance: Provenance }): object {
  return { id, provenance: JSON.stringify(provenance) };
}

/** The tools' schemas, which chat templates take beside native calls. */
export function toolsColumn({ calls, tools }: Telling): { tools?: Telling["tools"] } {
  return calls === "native" ? { tools } : {};
}
