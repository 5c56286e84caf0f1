import { settingText, type Figures } from "../reporter-event.ts";

/**
 * The messages of TensorBoard that agentrl writes; field numbers are those of
 * tensorboard/compat/proto/event.proto, summary.proto and tensor.proto, and of
 * tensorboard/plugins/hparams/plugin_data.proto (2.21).
 */

export interface EventTime {
  /** Unix time in milliseconds. */
  at: number;
  step: number;
}

/** The first event of a file. Version 2 means that `startEvent` marks a restart. */
export function versionEvent(time: EventTime): Buffer {
  return event(time, bytesField(3, "brain.Event:2"));
}

/** A start or restart: TensorBoard purges this step and all later ones that it read before. */
export function startEvent(time: EventTime): Buffer {
  const START = 1;
  return event(time, bytesField(7, message(intField(1, START))));
}

/** Figures as points of curves; they are rounded to 32 bits, as TensorBoard holds them. */
export function scalarsEvent(time: EventTime, figures: Figures): Buffer {
  const values = Object.entries(figures).map(([tag, value]) =>
    bytesField(1, message(bytesField(1, tag), floatField(2, value))),
  );
  return event(time, bytesField(5, message(...values)));
}

/** A text for the tab of that name, in Markdown. */
export function textEvent(time: EventTime, tag: string, text: string): Buffer {
  const STRING = 7;
  const oneLong = bytesField(2, message(intField(1, 1)));
  const tensor = message(intField(1, STRING), bytesField(2, message(oneLong)), bytesField(8, text));
  return event(time, summary(tag, pluginData("text"), bytesField(8, tensor)));
}

/** The run's settings, for the table that compares runs. */
export function settingsEvent(
  time: EventTime,
  run: string,
  settings: Readonly<Record<string, unknown>>,
): Buffer {
  const hparams = Object.entries(settings).map(([key, value]) =>
    bytesField(1, message(bytesField(1, key), bytesField(2, settingValue(value)))),
  );
  const session = message(...hparams, bytesField(4, run), doubleField(5, time.at / 1000));
  const content = message(bytesField(3, session));
  return event(time, summary("_hparams_/session_start_info", pluginData("hparams", content)));
}

/** How the run ended, for the same table. */
export function endEvent(time: EventTime, succeeded: boolean): Buffer {
  const [SUCCESS, FAILURE] = [1, 2];
  const session = message(
    intField(1, succeeded ? SUCCESS : FAILURE),
    doubleField(2, time.at / 1000),
  );
  const content = message(bytesField(4, session));
  return event(time, summary("_hparams_/session_end_info", pluginData("hparams", content)));
}

function event({ at, step }: EventTime, what: Field): Buffer {
  return message(doubleField(1, at / 1000), step === 0 ? null : intField(2, step), what);
}

function summary(tag: string, metadata: Field, tensor: Field | null = null): Field {
  return bytesField(5, message(bytesField(1, message(bytesField(1, tag), tensor, metadata))));
}

function pluginData(plugin: string, content: Buffer | null = null): Field {
  const data = message(bytesField(1, plugin), content && bytesField(2, content));
  return bytesField(9, message(bytesField(1, data)));
}

/** google.protobuf.Value: a number, true or false, or text. */
function settingValue(value: unknown): Buffer {
  if (typeof value === "number") return message(doubleField(2, value));
  if (typeof value === "boolean") return message(intField(4, value ? 1 : 0));
  return message(bytesField(3, settingText(value)));
}

/**
 * A record as TensorFlow's files hold them: length (8 bytes, little-endian), its checksum, the
 * content, its checksum. A checksum is CRC-32C, rotated right by 15 bits plus a constant ("masked"
 * in the source).
 *
 * Source: TensorFlow, tensorflow/core/lib/io/record_writer.h.
 */
export function tfRecord(content: Buffer): Buffer {
  const record = Buffer.alloc(content.length + 16);
  record.writeBigUInt64LE(BigInt(content.length), 0);
  record.writeUInt32LE(masked(crc32c(record.subarray(0, 8))), 8);
  content.copy(record, 12);
  record.writeUInt32LE(masked(crc32c(content)), 12 + content.length);
  return record;
}

function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/**
 * CRC-32C (Castagnoli), reflected polynomial 0x82F63B78.
 * @example crc32c(Buffer.from("123456789")) // 0xE3069283
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/**
 * Just enough of protobuf's wire format to write messages. Empty fields are left out, as protobuf
 * does.
 */

/** One field of a message, as it goes over the wire. */
type Field = Buffer;

/** Fields one after another: the bytes of a message. */
function message(...fields: readonly (Field | null)[]): Buffer {
  return Buffer.concat(fields.filter((field) => field !== null));
}

/** A nested message, text in UTF-8, or bytes. */
function bytesField(number: number, value: string | Buffer): Field {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return Buffer.concat([tag(number, 2), varint(bytes.length), bytes]);
}

/** int64, enum or bool. @param value a whole number from 0 to 2⁵³ − 1. */
function intField(number: number, value: number): Field {
  return Buffer.concat([tag(number, 0), varint(value)]);
}

/** 64 bits, little-endian. */
function doubleField(number: number, value: number): Field {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(number, 1), bytes]);
}

/** 32 bits, little-endian; the value is rounded to them. */
function floatField(number: number, value: number): Field {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(number, 5), bytes]);
}

function tag(number: number, wireType: number): Buffer {
  return varint(number * 8 + wireType);
}

/** Seven bits a byte, the lowest first; by division, since bit operations end at 32 bits. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  bytes.push(left);
  return Buffer.from(bytes);
}
