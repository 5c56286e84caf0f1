import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { castTo, mul } from "../../src/autodiff/ops/elementwise.ts";
import { gather } from "../../src/autodiff/ops/indexing.ts";
import { matMul } from "../../src/autodiff/ops/linear.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { random } from "../../src/base/random.ts";
import { emitModel } from "../../src/onnx/emit.ts";
import {
  ModelProtoSchema,
  TensorShapeProto_DimensionSchema,
  type ValueInfoProto,
} from "../../src/onnx/schema/onnx_pb.ts";

const SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
const B = 2;
const T = 3;

/** A model folder that says more about itself than the bare minimum. */
export interface TinyModelFiles {
  config?: object;
  /** Further JSON files by name. */
  files?: Record<string, unknown>;
}

/**
 * Writes a text encoder: each word has a random vector, mixed by one matrix; unknown words and special tokens have small
 * ones. Texts that share words are near each other.
 */
export async function writeTinyEncoder(
  folder: string,
  words: readonly string[],
  { dimensions = 16, config, files }: TinyModelFiles & { dimensions?: number } = {},
): Promise<string> {
  const draw = random("tiny encoder");
  const graph = new Graph();
  const ids = graph.input("input_ids", "int64", [B, T]);
  const rows = SPECIALS.length + words.length;
  const table = Array.from({ length: rows * dimensions }, (_, i) =>
    i < SPECIALS.length * dimensions ? 0.01 * draw.normal() : draw.normal(),
  );
  const mixing = Array.from({ length: dimensions * dimensions }, () => draw.normal());
  const vectors = gather([graph.constant("float32", [rows, dimensions], table), ids]);
  const hidden = matMul([vectors, graph.constant("float32", [dimensions, dimensions], mixing)]);
  return writeModelFolder(folder, words, {
    graph: anySize(graph, { last_hidden_state: hidden }),
    config: { model_type: "bert", architectures: ["BertModel"], ...config },
    files: files ?? {},
  });
}

/** Writes a cross-encoder: the score of a pair is the sum of its words' weights; unknown words weigh 0. */
export async function writeTinyCrossEncoder(
  folder: string,
  weights: Readonly<Record<string, number>>,
): Promise<string> {
  const graph = new Graph();
  const ids = graph.input("input_ids", "int64", [B, T]);
  const mask = graph.input("attention_mask", "int64", [B, T]);
  const all = [...SPECIALS.map(() => 0), ...Object.values(weights)];
  const each = gather([graph.constant("float32", [all.length], all), ids]);
  const logits = reduceSum(mul([each, castTo(mask, "float32")]), [1]);
  return writeModelFolder(folder, Object.keys(weights), {
    graph: anySize(graph, { logits }),
    config: { model_type: "bert", architectures: ["BertForSequenceClassification"] },
    files: {},
  });
}

/** The graph with free batch and length axes: graphs of this project have fixed ones, these operators work with any. */
function anySize(graph: Graph, outputs: Record<string, Value>): Uint8Array {
  const model = fromBinary(ModelProtoSchema, emitModel(graph, outputs));
  const free = ({ type }: ValueInfoProto): void => {
    if (type?.value.case !== "tensorType") return;
    const { dim } = type.value.value.shape!;
    ["batch", "tokens"].forEach((name, axis) => {
      const size = dim[axis]?.value;
      if (size?.case !== "dimValue" || size.value === 1n) return;
      dim[axis] = create(TensorShapeProto_DimensionSchema, {
        value: { case: "dimParam", value: name },
      });
    });
  };
  for (const info of [...model.graph!.input, ...model.graph!.output]) free(info);
  return toBinary(ModelProtoSchema, model);
}

async function writeModelFolder(
  folder: string,
  words: readonly string[],
  { graph, config, files }: { graph: Uint8Array; config: object; files: Record<string, unknown> },
): Promise<string> {
  await mkdir(join(folder, "onnx"), { recursive: true });
  await writeFile(join(folder, "onnx", "model.onnx"), graph);
  const json: Record<string, unknown> = {
    "config.json": config,
    "tokenizer.json": wordLevel([...SPECIALS, ...words]),
    "tokenizer_config.json": {
      tokenizer_class: "BertTokenizer",
      model_max_length: 64,
      pad_token: "[PAD]",
      unk_token: "[UNK]",
      cls_token: "[CLS]",
      sep_token: "[SEP]",
    },
    ...files,
  };
  for (const [name, content] of Object.entries(json)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), JSON.stringify(content));
  }
  return folder;
}

/** One token a word, lower-cased; [CLS] … [SEP], or [CLS] … [SEP] … [SEP] with type 1 for the second text. */
function wordLevel(vocabulary: readonly string[]): object {
  const sequence = (id: "A" | "B", type: number) => ({ Sequence: { id, type_id: type } });
  const special = (id: string, type: number) => ({ SpecialToken: { id, type_id: type } });
  const single = [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)];
  const specialTokens = SPECIALS.map((token, id) => [
    token,
    { id: token, ids: [id], tokens: [token] },
  ]);
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    decoder: null,
    added_tokens: SPECIALS.map((content, id) => ({
      id,
      content,
      special: true,
      normalized: false,
      single_word: false,
      lstrip: false,
      rstrip: false,
    })),
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: {
      type: "TemplateProcessing",
      single,
      pair: [...single, sequence("B", 1), special("[SEP]", 1)],
      special_tokens: Object.fromEntries(specialTokens) as object,
    },
    model: {
      type: "WordLevel",
      vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
      unk_token: "[UNK]",
    },
  };
}
