import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadChatTemplate } from "../../src/chat/load-chat-template.ts";
import { Graph } from "../../src/autodiff/graph.ts";
import { modelWeights } from "../../src/engine/local/model-weights.ts";
import { readCheckpoint, storedTypeOf } from "../../src/models/checkpoint.ts";
import { declareParameters, decoderRows, vocabularyScores } from "../../src/models/decoder.ts";
import { convertGguf } from "../../src/models/gguf/convert-gguf.ts";
import { openGguf } from "../../src/models/gguf/gguf-file.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import blocks from "./gguf/blocks.json" with { type: "json" };
import golden from "./gguf/models.json" with { type: "json" };

// gguf/write_gguf.py wrote these files with the versions that they name.
const here = new URL("./gguf/", import.meta.url).pathname;
const folder = temporaryFolder();

describe("tensors of a GGUF file", () => {
  it.each(Object.entries(blocks.numbers))("%s are the gguf package's, bit for bit", async (name, base64) => {
    const bytes = Buffer.from(base64, "base64");
    const file = await openGguf(join(here, "blocks.gguf"));
    const into = new Float32Array(bytes.length / 4);
    await file.read(name, into);
    await file.close();
    expect(Buffer.from(into.buffer).equals(bytes)).toBe(true);
  });
});

describe.each(Object.entries(golden.models))("the GGUF file of a model: %s", (name, model) => {
  const out = join(folder, name);
  const converted = convertGguf(join(here, `${name}.gguf`), out);

  it("has the logits of transformers, to 2e-4", async () => {
    const { config } = await converted;
    const { weights } = await readCheckpoint(out);
    const graph = new Graph();
    const parameters = declareParameters(graph, config);
    const ids = graph.input("ids", "int32", [1, model.inputs.length]);
    const scores = vocabularyScores(parameters, decoderRows(config, parameters, ids));
    const session = await createSession(graph, { scores }, { threads: 1 });
    const { feeds } = await modelWeights(config, weights, openDevice("cpu", 1));
    const given = tensorOf(Int32Array.from(model.inputs), ids.shape);
    const logits = floats((await session.run({ ...feeds, ids: given }))["scores"]!);
    expectClose(logits.slice(-config.vocabSize), model.logits, { atol: 2e-4, rtol: 0 });
  });

  it("keeps the dtype of matrices that are not quantised", async () => {
    const { types, dtype } = await converted;
    expect([...types.keys()].sort()).toEqual(model.types);
    const [only] = model.types;
    expect(dtype).toBe(only === "F16" || only === "BF16" ? only : "F32");
    expect(await storedTypeOf(out)).toBe(dtype);
  });

  it("gives texts the ids that the tokenizer's own library gives", async () => {
    await converted;
    const tokenizer = await loadTokenizer(out);
    const start = golden.texts.map((text) => tokenizer.encodeStart(text));
    expect(start).toEqual(model.ids.start);
    for (const [i, ids] of ("within" in model.ids ? model.ids.within : []).entries())
      expect(tokenizer.encode(golden.texts[i]!)).toEqual(ids);
    expect(tokenizer.endId).toBe(name === "sentence-piece" ? 2 : 1);
  });

  it("has the chat template", async () => {
    await converted;
    expect(await readFile(join(out, "chat_template.jinja"), "utf8")).toBe(golden.template);
    const template = await loadChatTemplate(out);
    expect(template.source).toBe(golden.template);
  });
});
