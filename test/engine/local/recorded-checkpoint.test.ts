import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalEngine } from "../../../src/engine/local/local-engine.ts";
import { RECORD_FILE, recordFiles, requireAsRecorded } from "../../../src/models/recorded-files.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const lora = { rank: 2, alpha: 4, rslora: false, targets: ["q_proj"], seed: 1 };
const request = {
  promptIds: [5, 6, 7],
  maxTokens: 5,
  stopIds: [],
  stopStrings: [],
  temperature: 0,
  topP: 1,
  topK: 0,
  seed: 1,
  sequence: null,
};

async function flipBit(file: string, fromEnd: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[bytes.length - fromEnd]! ^= 1;
  await writeFile(file, bytes);
}

describe("a folder with a record of its files", () => {
  it("is opened as long as they are as written, and again once the record is deleted", async () => {
    const model = await writeTinyModel(join(folder, "whole"));
    await recordFiles(model, { step: 2, attempt: 0 });
    const open = () => openLocalEngine({ model, workers: 1, slots: 1, trains: false });
    await (await open()).close();
    for (const file of ["tokenizer.json", "config.json"]) {
      await flipBit(join(model, file), 2);
      await expect(requireAsRecorded(model)).rejects.toThrow(errorWith("CHECKPOINT_CHANGED", file));
      await flipBit(join(model, file), 2);
    }
    await flipBit(join(model, "model.safetensors"), 5);
    await expect(open()).rejects.toThrow(
      errorWith("CHECKPOINT_CHANGED", "model.safetensors is not what was written"),
    );
    await writeFile(join(model, RECORD_FILE), "{}");
    await expect(open()).rejects.toThrow(errorWith("CHECKPOINT_CHANGED", RECORD_FILE));
    await rm(join(model, RECORD_FILE));
    await (await open()).close();
  });

  it("is checked as the base of adapters, as adapters, and when weights are loaded later", async () => {
    const model = await writeTinyModel(join(folder, "base"));
    const adapters = join(folder, "adapters");
    const engine = await openLocalEngine({ model, lora, workers: 1, slots: 1 });
    try {
      await engine.save(adapters, { optimizer: true });
      await recordFiles(adapters);
      await engine.load(adapters);
      await flipBit(join(adapters, "optimizer.safetensors"), 3);
      await expect(engine.load(adapters)).rejects.toThrow(errorWith("CHECKPOINT_CHANGED"));
      // The optimizer's state is not read where nothing is trained.
      const asked = { model: adapters, workers: 1, slots: 1, trains: false };
      await (await openLocalEngine(asked)).close();
      await flipBit(join(adapters, "adapter_model.safetensors"), 3);
      await expect(openLocalEngine(asked)).rejects.toThrow(errorWith("CHECKPOINT_CHANGED"));
      await flipBit(join(adapters, "adapter_model.safetensors"), 3);
      await recordFiles(model);
      await flipBit(join(model, "model.safetensors"), 3);
      await expect(openLocalEngine(asked)).rejects.toThrow(errorWith("CHECKPOINT_CHANGED", model));
    } finally {
      await engine.close();
    }
  });
});

it("begins fresh adapters over a checkpoint that holds the training state of its whole model", async () => {
  const model = await writeTinyModel(join(folder, "start"));
  const whole = await openLocalEngine({ model, workers: 1, slots: 1 });
  const checkpoint = join(folder, "step-2");
  await whole.save(checkpoint, { optimizer: true });
  const expected = await whole.sample(request);
  await whole.close();
  const engine = await openLocalEngine({ model: checkpoint, lora, workers: 1, slots: 1 });
  expect(await engine.sample(request)).toEqual(expected);
  await engine.close();
});
