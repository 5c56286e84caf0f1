/**
 * The messages of the Tinker API that have two encodings: JSON (SDK up to 0.24, Open-RL) and protobuf (SDK from 0.25, SkyRL, TuFT), in both
 * directions, for the remote engine and `agentrl serve engine`.
 * Source: tinker_public in the Tinker SDK 0.25.0 and 0.38.0 (Apache-2.0), which only adds fields; JSON as SDK 0.18 wrote it.
 */
import {
  bytesOf,
  numberOf,
  packedOf,
  type ProtobufField,
  protobufFields,
  ProtobufWriter,
  textOf,
} from "./protobuf.ts";

/** One sequence: input tokens, and arrays of the same length by name (`target_tokens`, `weights`, `logprobs`, `advantages`). */
export interface WireRow {
  tokens: readonly number[];
  fields: Readonly<Record<string, readonly number[]>>;
}

export interface ForwardBackwardCall {
  modelId: string;
  seqId: number;
  rows: readonly WireRow[];
  lossFn: string;
  config: Readonly<Record<string, number>>;
  forwardOnly: boolean;
}

export interface ForwardBackwardReply {
  /** Per row, arrays by name: `logprobs`, of the row's length. */
  outputs: Readonly<Record<string, readonly number[]>>[];
  metrics: Readonly<Record<string, number>>;
}

export interface SampledSequence {
  tokens: readonly number[];
  logprobs: readonly number[];
  stopReason: "stop" | "length";
}

export interface SampleReply {
  sequences: SampledSequence[];
  /** NaN where a token has none: the first. */
  promptLogprobs: readonly number[] | null;
}

const FLOAT32 = 1;
const INT64 = 2;
const INT32 = 3;
const BFLOAT16 = 4;

export const PROTOBUF = "application/x-protobuf";

export function encodeCall(call: ForwardBackwardCall): Uint8Array {
  const message = new ProtobufWriter().text(1, call.modelId).int(2, call.seqId);
  for (const { tokens, fields } of call.rows) {
    const text = new ProtobufWriter().bytes(1, new Int32Array(tokens));
    const row = new ProtobufWriter().message(1, new ProtobufWriter().message(1, text));
    for (const [name, values] of Object.entries(fields)) {
      const isTarget = name === "target_tokens";
      const data = isTarget ? int64Of(values) : new Float32Array(values);
      const tensor = new ProtobufWriter()
        .bytes(1, data)
        .int(3, isTarget ? INT64 : FLOAT32)
        .packed(4, [values.length]);
      row.message(2, new ProtobufWriter().text(1, name).message(2, tensor));
    }
    message.message(3, row);
  }
  message.text(4, call.lossFn);
  for (const [name, value] of Object.entries(call.config))
    message.message(5, new ProtobufWriter().text(1, name).double(2, value));
  return (call.forwardOnly ? message.int(6, 1) : message).finish();
}

/** Numbers below 2³¹ as 64-bit integers, without a BigInt for each. */
function int64Of(values: readonly number[]): Int32Array {
  const halves = new Int32Array(2 * values.length);
  values.forEach((value, i) => {
    halves[2 * i] = value;
    halves[2 * i + 1] = value < 0 ? -1 : 0;
  });
  return halves;
}

/** @throws {RangeError} when it is no such message, or uses pictures or sparse tensors. */
export function decodeCall(bytes: Uint8Array): ForwardBackwardCall {
  const call = { modelId: "", seqId: 0, lossFn: "", forwardOnly: false };
  const rows: WireRow[] = [];
  const config: Record<string, number> = {};
  for (const each of protobufFields(bytes)) {
    if (each[0] === 1) call.modelId = textOf(each);
    else if (each[0] === 2) call.seqId = numberOf(each);
    else if (each[0] === 3) rows.push(decodeRow(bytesOf(each)));
    else if (each[0] === 4) call.lossFn = textOf(each);
    else if (each[0] === 5) {
      const { key, value } = entryOf(each);
      config[key] = value === undefined ? 0 : numberOf(value);
    } else if (each[0] === 6) call.forwardOnly = numberOf(each) !== 0;
  }
  return { ...call, rows, config };
}

function decodeRow(bytes: Uint8Array): WireRow {
  const tokens: number[] = [];
  const fields: Record<string, readonly number[]> = {};
  for (const each of protobufFields(bytes)) {
    if (each[0] === 1) {
      for (const chunk of protobufFields(bytesOf(each))) {
        if (chunk[0] !== 1) throw new RangeError("model_input has a chunk that is no text");
        for (const part of protobufFields(bytesOf(chunk)))
          if (part[0] === 1) tokens.push(...numbersOf(bytesOf(part), INT32));
      }
    } else if (each[0] === 2) {
      const { key, value } = entryOf(each);
      if (value !== undefined) fields[key] = decodeTensor(bytesOf(value));
    }
  }
  return { tokens, fields };
}

function decodeTensor(bytes: Uint8Array): number[] {
  let data: Uint8Array = new Uint8Array(0);
  let type = FLOAT32;
  for (const each of protobufFields(bytes)) {
    if (each[0] === 1) data = bytesOf(each);
    else if (each[0] === 2) throw new RangeError("a sparse tensor");
    else if (each[0] === 3) type = numberOf(each);
    else if (each[0] === 4 && packedOf(each).length > 1)
      throw new RangeError("a tensor of several axes");
  }
  return numbersOf(data, type);
}

/** A `map<string, …>` entry. */
function entryOf(field: ProtobufField): { key: string; value: ProtobufField | undefined } {
  const parts = [...protobufFields(bytesOf(field))];
  const key = parts.find(([number]) => number === 1);
  return {
    key: key === undefined ? "" : textOf(key),
    value: parts.find(([number]) => number === 2),
  };
}

/** Elements of little-endian bytes, which may lie unaligned in their buffer. */
function numbersOf(bytes: Uint8Array, type: number): number[] {
  const { buffer } = new Uint8Array(bytes);
  if (type === INT64) return Array.from(new BigInt64Array(buffer), Number);
  if (type === INT32) return listOf(new Int32Array(buffer));
  if (type !== BFLOAT16) return listOf(new Float32Array(buffer));
  const wide = Uint32Array.from(new Uint16Array(buffer), (half) => half * 65_536);
  return Array.from(new Float32Array(wide.buffer));
}

/** As `Array.from`, several times faster. */
function listOf(numbers: Int32Array | Float32Array): number[] {
  const list = new Array<number>(numbers.length);
  for (let i = 0; i < numbers.length; i++) list[i] = numbers[i] ?? NaN;
  return list;
}

export function encodeReply({ outputs, metrics }: ForwardBackwardReply): Uint8Array {
  const message = new ProtobufWriter().text(1, "ArrayRecord");
  const record = new ProtobufWriter();
  for (const name of Object.keys(outputs[0] ?? {})) {
    const columns = outputs.map((row) => Float32Array.from(row[name] ?? []));
    let end = 0;
    const ends = columns.map((column) => BigInt((end += column.byteLength)));
    const data = Float32Array.from(columns.flatMap((column) => Array.from(column)));
    const tensor = new ProtobufWriter()
      .bytes(1, data)
      .bytes(2, BigInt64Array.from([0n, ...ends]))
      .int(3, FLOAT32);
    record.message(2, new ProtobufWriter().text(1, name).message(2, tensor));
  }
  message.message(2, record.int(3, outputs.length));
  for (const [name, value] of Object.entries(metrics))
    message.message(3, new ProtobufWriter().text(1, name).double(2, value));
  return message.finish();
}

/** @throws {RangeError} when it is no such message. */
export function decodeReply(bytes: Uint8Array): ForwardBackwardReply {
  const outputs: Record<string, readonly number[]>[] = [];
  const metrics: Record<string, number> = {};
  for (const each of protobufFields(bytes)) {
    if (each[0] === 2) outputs.push(...decodeRecord(bytesOf(each)));
    else if (each[0] === 3) {
      const { key, value } = entryOf(each);
      metrics[key] = value === undefined ? 0 : numberOf(value);
    }
  }
  return { outputs, metrics };
}

function decodeRecord(bytes: Uint8Array): Record<string, readonly number[]>[] {
  const parts = [...protobufFields(bytes)];
  const count = parts.find(([field]) => field === 3);
  const rows = Array.from({ length: count === undefined ? 0 : numberOf(count) }, () => ({}));
  for (const each of parts.filter(([field]) => field === 2)) {
    const { key, value } = entryOf(each);
    if (value === undefined) continue;
    const of = new Map([...protobufFields(bytesOf(value))]);
    const array = (field: number): Uint8Array => {
      const found = of.get(field);
      return found instanceof Uint8Array ? found : new Uint8Array(0);
    };
    const data = array(1);
    const offsets = numbersOf(array(2), INT64);
    const type = Number(of.get(3) ?? FLOAT32);
    rows.forEach((row: Record<string, readonly number[]>, i) => {
      row[key] = numbersOf(data.subarray(offsets[i], offsets[i + 1]), type);
    });
  }
  return rows;
}

export function encodeSample({ sequences, promptLogprobs }: SampleReply): Uint8Array {
  const message = new ProtobufWriter();
  for (const { tokens, logprobs, stopReason } of sequences) {
    const sequence = new ProtobufWriter();
    if (stopReason === "length") sequence.int(1, 1);
    message.message(
      1,
      sequence.bytes(2, Int32Array.from(tokens)).bytes(3, Float32Array.from(logprobs)),
    );
  }
  if (promptLogprobs !== null) message.bytes(2, Float32Array.from(promptLogprobs));
  return message.finish();
}

/** @throws {RangeError} when it is no such message. */
export function decodeSample(bytes: Uint8Array): SampleReply {
  const reply: SampleReply = { sequences: [], promptLogprobs: null };
  for (const each of protobufFields(bytes)) {
    if (each[0] === 2) reply.promptLogprobs = numbersOf(bytesOf(each), FLOAT32);
    if (each[0] !== 1) continue;
    const sequence: SampledSequence = { tokens: [], logprobs: [], stopReason: "stop" };
    for (const part of protobufFields(bytesOf(each))) {
      if (part[0] === 1) sequence.stopReason = numberOf(part) === 1 ? "length" : "stop";
      else if (part[0] === 2) sequence.tokens = numbersOf(bytesOf(part), INT32);
      else if (part[0] === 3) sequence.logprobs = numbersOf(bytesOf(part), FLOAT32);
    }
    reply.sequences.push(sequence);
  }
  return reply;
}
