import { crc32 } from "node:zlib";
import { bytesField, type Field, intField, message } from "../protobuf.ts";

/**
 * The records of W&B's offline runs that agentrl writes; field numbers are those of wandb_internal.proto (0.31, the same in 0.17).
 * `num` counts the records of a file from 1.
 */

/** Values by name; each becomes JSON. */
type Values = Readonly<Record<string, unknown>>;

export interface RunNames {
  id: string;
  project: string;
  displayName: string;
}

interface RunFacts extends RunNames {
  /** Whether an earlier file holds the run's first steps. */
  isResumed: boolean;
  config: Values;
  /** Start, Unix time in milliseconds. */
  at: number;
}

export function headerRecord(num: number, version: string): Buffer {
  const producer = message(bytesField(1, `agentrl ${version}`));
  return record(num, 21, message(bytesField(1, producer)));
}

/** The run's names, settings and start. */
export function runRecord(num: number, { at, ...run }: RunFacts): Buffer {
  const startTime = message(intField(1, Math.floor(at / 1000)), intField(2, (at % 1000) * 1e6));
  const content = message(
    bytesField(1, run.id),
    bytesField(3, run.project),
    bytesField(4, items(1, run.config)),
    bytesField(8, run.displayName),
    bytesField(17, startTime),
    run.isResumed ? intField(24, 1) : null,
  );
  return record(num, 17, content);
}

/** One row of the run's history. */
export function historyRecord(num: number, step: number, values: Values): Buffer {
  return record(num, 2, message(items(1, values), bytesField(2, message(intField(1, step)))));
}

/** Replaces these values of the run's summary; the others stay. */
export function summaryRecord(num: number, values: Values): Buffer {
  return record(num, 3, items(1, values));
}

export function alertRecord(num: number, title: string, text: string, level: string): Buffer {
  return record(
    num,
    10,
    message(bytesField(1, title), bytesField(2, text), bytesField(3, level.toUpperCase())),
  );
}

/** The end of a run. @param code 0: it finished. @param seconds that it took. */
export function exitRecord(num: number, code: number, seconds: number): Buffer {
  return record(num, 18, message(intField(1, code), intField(2, seconds)));
}

/** Follows `exitRecord`; readers before 0.18 need it. */
export function finalRecord(num: number): Buffer {
  return record(num, 20, message());
}

function record(num: number, type: number, content: Buffer): Buffer {
  return message(intField(1, num), bytesField(type, content));
}

/** `key` and `value_json` have these numbers in the items of config, history and summary. */
function items(number: number, values: Values): Field {
  return message(
    ...Object.entries(values).map(([key, value]) =>
      bytesField(number, message(bytesField(1, key), bytesField(16, json(value)))),
    ),
  );
}

/** NaN and infinity as wandb writes them: bare, as Python's JSON does. */
function json(value: unknown): string {
  return typeof value === "number" ? String(value) : JSON.stringify(value ?? null);
}

/** The first bytes of a file: a name, a constant, version 0. */
export const FILE_HEADER = Buffer.from([...Buffer.from(":W&B"), 0xe1, 0xbe, 0]);

const BLOCK = 32_768;
const CHUNK_HEADER = 7;
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4];

/**
 * A record as the file holds it: LevelDB's log format, whose chunks do not cross the file's blocks of 32 KB. A chunk is its checksum
 * (4 bytes, little-endian), length (2 bytes), type (1 byte) and content; the checksum is CRC-32 of type and content.
 *
 * Source: wandb/sdk/internal/datastore.py. Other than in LevelDB, it is not CRC-32C and not masked.
 *
 * @param offset where the record begins in the file, whose header belongs to the first block.
 */
export function framed(content: Buffer, offset: number): Buffer {
  const parts: Buffer[] = [];
  let at = offset;
  let rest = content;
  let isFirst = true;
  for (;;) {
    const left = BLOCK - (at % BLOCK);
    const padding = Buffer.alloc(left < CHUNK_HEADER ? left : 0);
    const room = (padding.length > 0 ? BLOCK : left) - CHUNK_HEADER;
    const isLast = rest.length <= room;
    const type = isFirst ? (isLast ? FULL : FIRST) : isLast ? LAST : MIDDLE;
    const part = chunk(type, rest.subarray(0, room));
    parts.push(padding, part);
    if (isLast) return Buffer.concat(parts);
    at += padding.length + part.length;
    rest = rest.subarray(room);
    isFirst = false;
  }
}

function chunk(type: number, content: Buffer): Buffer {
  const bytes = Buffer.alloc(CHUNK_HEADER + content.length);
  bytes.writeUInt16LE(content.length, 4);
  bytes[6] = type;
  content.copy(bytes, CHUNK_HEADER);
  bytes.writeUInt32LE(crc32(bytes.subarray(6)), 0);
  return bytes;
}
