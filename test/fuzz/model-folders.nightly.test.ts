/** Damaged model folders through `agentrl eval`: each is refused, or scores exactly as the undamaged one. */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random, type Random } from "../../src/base/random.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { recordFiles } from "../../src/models/recorded-files.ts";
import { ODD_VALUES, runFuzzed } from "../helpers/fuzz.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";
import { commandNamed } from "../helpers/run-command.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const RECIPE = `
summary: Two questions, one message of eight tokens.
base:
  environment: { name: search-qa }
  strategy: { name: direct }
  budgets: [{ scope: turn, unit: tokens, limit: 8, onExhausted: cut }]
  sampling: { temperature: 1 }
  evaluation:
    dataset: { name: tinyworld, split: test, people: 20, questions: 2 }
    strategy: { name: direct }
  engine: { workers: 1, slots: 2 }
tiers: { smoke: {} }
`;

let runs = 0;
const counts = { refused: 0, equal: 0, free: 0 };
let expected = "";

/** What an evaluation of a folder wrote; null: it was refused. */
async function evaluated(model: string, about: string): Promise<string | null> {
  const out = at(`out-${runs++}`);
  const args = ["eval", "--recipe", at("r.yaml"), "--policy", model, "--out", out];
  const { status, json } = await runFuzzed(evalCommand, args, about);
  if (status !== 0) return null;
  const rows = readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) =>
      readFileSync(join(out, name), "utf8").replace(/"timings":\{[^}]*\}|"key":"[^"]*"/g, ""),
    );
  // A row's key names the files of the policy; what it wrote is compared.
  expect(rows.join("")).toContain('"logprobs"');
  await rm(out, { recursive: true });
  return JSON.stringify([json["metrics"], rows]);
}

/** @param free the file itself asks for other results, and nothing in it can say that it should not. */
async function check(about: string, model: string, { free = false } = {}): Promise<void> {
  const found = await evaluated(model, about);
  if (found === null) counts.refused += 1;
  else if (free && found !== expected) counts.free += 1;
  else {
    expect(found, about).toBe(expected);
    counts.equal += 1;
  }
}

/** A copy of the model whose file was changed. */
async function changed(
  file: string,
  change: (bytes: Buffer) => Buffer | string,
  from = at("model"),
): Promise<string> {
  const model = at("changed");
  await rm(model, { recursive: true, force: true });
  await cp(from, model, { recursive: true });
  await writeFile(join(model, file), change(await readFile(join(model, file))));
  return model;
}

const flipped =
  (draw: Random, from = 0, to?: number) =>
  (bytes: Buffer): Buffer => {
    const place = from + draw.int((to ?? bytes.length) - from);
    bytes[place]! ^= 1 << draw.int(8);
    return bytes;
  };

const pick = <T>(draw: Random, items: readonly T[]): T => items[draw.int(items.length)]!;

beforeAll(async () => {
  await writeFile(at("r.yaml"), RECIPE);
  await writeTinyModel(at("model"));
  const again = [await evaluated(at("model"), "whole"), await evaluated(at("model"), "whole")];
  expect(again[0]).toBe(again[1]);
  expected = again[0]!;
});

afterAll(() => {
  process.stdout.write(`model folders: ${JSON.stringify(counts)}\n`);
});

describe("a damaged model folder", () => {
  it("with a record of its files is refused whatever bit changed", async () => {
    const draw = random(1);
    await cp(at("model"), at("recorded"), { recursive: true });
    await recordFiles(at("recorded"));
    const files = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"];
    for (let i = 0; i < 16; i++) {
      const file = files[i % files.length]!;
      const model = await changed(file, flipped(draw), at("recorded"));
      expect(await evaluated(model, `bit of ${file}, case ${i}`)).toBeNull();
      counts.refused += 1;
    }
    for (let i = 0; i < 4; i++)
      await check(
        `bit of the record ${i}`,
        await changed("checkpoint.json", flipped(draw), at("recorded")),
      );
  });

  it("with a NaN or an infinity anywhere is refused, in every dtype", async () => {
    const draw = random(2);
    const whole = await readCheckpoint(at("model"));
    for (const dtype of ["F32", "F16", "BF16"] as const) {
      const stored = at(dtype);
      await writeCheckpoint(stored, whole, { dtype, tokenizerFrom: at("model") });
      const bits = {
        F32: ["0000807f", "000080ff", "0000c07f", "0100807f"],
        F16: ["007c", "00fc", "007e", "017c"],
        BF16: ["807f", "80ff", "c07f", "817f"],
      }[dtype].map((hex) => Buffer.from(hex, "hex"));
      for (const number of bits) {
        const model = await changed(
          "model.safetensors",
          (bytes) => {
            const start = 8 + Number(bytes.readBigUInt64LE());
            const count = (bytes.length - start) / number.length;
            number.copy(bytes, start + number.length * draw.int(count));
            return bytes;
          },
          stored,
        );
        expect(await evaluated(model, `${dtype} ${number.toString("hex")}`)).toBeNull();
        counts.refused += 1;
      }
    }
  });

  it("with a changed header or length of its weights is refused, or nothing depends on the change", async () => {
    const draw = random(3);
    for (let i = 0; i < 24; i++) {
      const model = await changed("model.safetensors", (bytes) =>
        flipped(draw, 0, 8 + Number(bytes.readBigUInt64LE()))(bytes),
      );
      await check(`header ${i}`, model);
    }
    for (let i = 0; i < 6; i++) {
      const cut = await changed("model.safetensors", (bytes) =>
        i % 2 === 0
          ? bytes.subarray(0, draw.int(bytes.length))
          : Buffer.concat([bytes, bytes.subarray(0, 1 + draw.int(9))]),
      );
      await check(`length ${i}`, cut);
    }
  });

  it("with an odd value in config.json is refused, or computes the same", async () => {
    const draw = random(4);
    const config = JSON.parse(await readFile(join(at("model"), "config.json"), "utf8")) as Record<
      string,
      unknown
    >;
    // Any positive number of these is a model of its own.
    const free = ["rms_norm_eps", "rope_theta", "max_position_embeddings"];
    for (const key of Object.keys(config)) {
      for (let i = 0; i < 2; i++) {
        const value = pick(draw, ODD_VALUES);
        const model = await changed("config.json", () =>
          JSON.stringify({ ...config, [key]: value }),
        );
        await check(`config ${key}: ${JSON.stringify(value)}`, model, { free: free.includes(key) });
      }
    }
  });

  it("with an odd value in tokenizer.json is refused, or reads the same", async () => {
    const draw = random(5);
    const text = await readFile(join(at("model"), "tokenizer.json"), "utf8");
    type Json = { added_tokens: Record<string, unknown>[]; model: Record<string, unknown> };
    const changes: [string, (json: Json, value: unknown) => void][] = [
      [
        "id",
        ({ model }, value) => {
          const vocab = model["vocab"] as Record<string, unknown>;
          vocab[pick(draw, Object.keys(vocab))] = value;
        },
      ],
      ["vocab", ({ model }, value) => (model["vocab"] = value)],
      ["merges", ({ model }, value) => (model["merges"] = value)],
      ["type", ({ model }, value) => (model["type"] = value)],
      ["model", (json, value) => (json.model = value as never)],
      ["added id", ({ added_tokens }, value) => (pick(draw, added_tokens)["id"] = value)],
      ["added text", ({ added_tokens }, value) => (pick(draw, added_tokens)["content"] = value)],
      ["added", (json, value) => (json.added_tokens = value as never)],
      ["a merge", ({ model }, value) => (model["merges"] = [value])],
      ["a merge", ({ model }, value) => (model["merges"] = [["a", value]])],
    ];
    for (const [what, change] of [...changes, ...changes, ...changes]) {
      const value = pick(draw, ODD_VALUES);
      const json = JSON.parse(text) as Json;
      change(json, value);
      const model = await changed("tokenizer.json", () => JSON.stringify(json));
      // Without its added tokens a tokenizer is another one, and so it is with a merge that is sound.
      const free = ["added", "a merge", "merges"].includes(what);
      await check(`tokenizer ${what}: ${JSON.stringify(value)}`, model, { free });
    }
    const json = JSON.parse(text) as Record<string, unknown>;
    for (const part of ["normalizer", "pre_tokenizer", "post_processor", "decoder"]) {
      for (let i = 0; i < 3; i++) {
        const value = pick(draw, [...ODD_VALUES, { type: "Quux" }, { type: "Sequence" }]);
        const model = await changed("tokenizer.json", () =>
          JSON.stringify({ ...json, [part]: value }),
        );
        await check(`tokenizer ${part}: ${JSON.stringify(value)}`, model, { free: true });
      }
    }
  });

  it("with another kind of file in the place of one is refused, or the file is not needed", async () => {
    const kinds: [string, string | Buffer][] = [
      ["empty", ""],
      ["null", "null"],
      ["list", "[]"],
      ["number", "3"],
      ["half", '{"model": {"type": "BPE", '],
      ["pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 270\n"],
      ["deep", "[".repeat(100_000)],
      ["bytes", Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 37) % 256))],
    ];
    const files = ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"];
    for (const file of [...files, "generation_config.json", "special_tokens_map.json"]) {
      for (const [kind, content] of kinds) {
        const model = await changed("config.json", (bytes) => bytes);
        await writeFile(join(model, file), content);
        await check(`${file} ${kind}`, model, { free: file === "tokenizer_config.json" });
      }
      const model = await changed("config.json", (bytes) => bytes);
      await rm(join(model, file), { force: true });
      await mkdir(join(model, file));
      await check(`${file} is a folder`, model);
    }
  });
});
