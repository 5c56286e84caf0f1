import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { Graph } from "../../src/autodiff/graph.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { architectures } from "../../src/models/architectures/index.ts";
import {
  isIgnored,
  parseDecoderConfig,
  toHuggingFaceConfig,
} from "../../src/models/config-json.ts";
import type { DecoderConfig } from "../../src/models/config.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../src/models/decoder.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import { hostSamplingGraph } from "../../src/models/host-sampling-graph.ts";
import { samplingGraph } from "../../src/models/sampling-graph.ts";
import { errorWith } from "../helpers/error-with.ts";

/** The sizes that a file of every family states. */
const sizes = {
  vocab_size: 20,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  intermediate_size: 12,
  rms_norm_eps: 1e-5,
  max_position_embeddings: 32,
};
const parts = architectures.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("architecture $name", ({ name, part }) => {
  const json = { model_type: name, architectures: [part.className], ...sizes };
  const config: DecoderConfig = parseDecoderConfig(json, "config.json");

  it("reads a file of sizes alone, and what it writes of it", () => {
    expect(config).toMatchObject({ architecture: name, vocabSize: 20, kvHeads: 2, headDim: 8 });
    const written = toHuggingFaceConfig(config);
    expect(written).toMatchObject({ model_type: name, architectures: [part.className] });
    expect(parseDecoderConfig(written, "written")).toEqual(config);
    expect(toHuggingFaceConfig(parseDecoderConfig(written, "written"))).toEqual(written);
  });

  it("reads positions in both layouts and refuses kinds that it does not have", () => {
    const scaling = { rope_type: "linear", factor: 2 };
    const old = parseDecoderConfig({ ...json, rope_theta: 9, rope_scaling: scaling }, "old");
    const rope_parameters = { ...scaling, rope_theta: 9 };
    expect(parseDecoderConfig({ ...json, rope_parameters }, "new")).toEqual(old);
    const yarn = { ...json, rope_scaling: { rope_type: "yarn", factor: 2 } };
    const error = errorWith("MODEL_CONFIG_UNSUPPORTED", "config.json: rope_scaling is");
    expect(() => parseDecoderConfig(yarn, "config.json")).toThrow(error);
  });

  it("names a key that it does not read, and reads none that is ignored elsewhere", () => {
    const error = errorWith("MODEL_CONFIG_UNSUPPORTED", "config.json: another_feature is 3;");
    expect(() => parseDecoderConfig({ ...json, another_feature: 3 }, "config.json")).toThrow(error);
    for (const key of Object.keys(part.schema.shape)) expect(isIgnored(key, 3), key).toBe(false);
  });

  it("has a gradient for each of its parameters", () => {
    const graph = new Graph();
    const parameters = declareParameters(graph, config);
    const ids = graph.input("ids", "int32", [2, 5]);
    const scores = vocabularyScores(parameters, decoderRows(config, parameters, ids));
    const specs = parameterSpecs(config);
    const wrt = specs.map((spec) => parameters.get(spec.name)!);
    const gradients = backward(reduceSum(scores, [0, 1]), wrt);
    expect(gradients.map(({ shape }) => shape)).toEqual(specs.map(({ shape }) => shape));
  });

  it("samples with the parameters that it is trained with", () => {
    const shape = { rows: 1, chunk: 1, capacity: 64 };
    const onDevice = samplingGraph(config, { ...shape, slots: 1 }, { gives: "probabilities" });
    const groups = [{ rows: 1, capacity: 64 }];
    const inHost = hostSamplingGraph(
      config,
      { groups, chunk: 1, sampled: 1 },
      { packed: true, transposed: false },
    );
    for (const { graph } of [onDevice, inHost]) {
      const read = graph.inputs.map(({ name }) => name.replace(/\.(transposed|packed)$/, ""));
      const known = parameterSpecs(config).map(({ name }) => name);
      expect(known.filter((each) => !read.includes(each))).toEqual([]);
    }
  });
});
