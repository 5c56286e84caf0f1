// node test/golden/decoder/write-checkpoints.mjs OUT: the checkpoints that decoder.py reads, as our writer writes them (after a
// build). golden-decoder.test.ts makes the same weights again from the same seed and compares their checksums.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeCheckpoint, flatten } from "../../../dist/models/checkpoint.js";
import { parseDecoderConfig } from "../../../dist/models/config-json.js";
import { initialWeights } from "../../../dist/models/initialise.js";

const out = process.argv[2];
const configs = JSON.parse(await readFile(new URL("configs.json", import.meta.url), "utf8"));
for (const [name, json] of Object.entries(configs)) {
  const folder = join(out, name);
  await mkdir(folder, { recursive: true });
  const config = parseDecoderConfig(json, name);
  const named = initialWeights(config, 11);
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), name);
  for (let i = 0; i < weights.length; i++) weights[i] *= 1.5;
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
}
