// The card: its name, driver and memory from nvidia-smi, and what its maker says it can compute.
import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

const HOPPER = "NVIDIA H100 datasheet";
const ADA = "NVIDIA Ada GPU architecture white paper, appendix A";
const AMPERE = "NVIDIA Ampere GA102 white paper, appendix A";

/**
 * Published peaks in TFLOP/s: float32 outside tensor cores, bfloat16 in them with float32 sums, without sparsity (datasheets often print
 * twice that). null: the card has none. The first pattern that fits nvidia-smi's name counts.
 */
const cards = [
  [/H200 NVL/, 60, 835.5, "NVIDIA H200 datasheet"],
  [/H200/, 67, 989.5, "NVIDIA H200 datasheet"],
  [/H100 NVL/, 60, 835.5, HOPPER],
  [/H100 PCIe/, 51, 756, HOPPER],
  [/H100/, 67, 989.5, HOPPER],
  [/A100/, 19.5, 312, "NVIDIA A100 datasheet"],
  [/L40S/, 91.6, 362, "NVIDIA L40S datasheet"],
  [/L4$/, 30.3, 121, "NVIDIA L4 datasheet"],
  [/A10$/, 31.2, 125, "NVIDIA A10 datasheet"],
  [/T4$/, 8.1, null, "NVIDIA T4 datasheet"],
  [/RTX 6000 Ada/, 91.1, 364.2, "NVIDIA RTX 6000 Ada datasheet"],
  [/RTX 4090$/, 82.6, 165.2, ADA],
  [/RTX 4080$/, 48.7, 97.5, ADA],
  [/RTX A6000/, 38.7, 154.8, "NVIDIA RTX A6000 datasheet"],
  [/RTX 3090$/, 35.6, 71, AMPERE],
];

/** @returns {{ float32: number, bf16: number | null, source: string } | null} TFLOP/s; null for a card that is not in the table. */
export function peaksOf(name) {
  const found = cards.find(([pattern]) => pattern.test(name));
  return found === undefined ? null : { float32: found[1], bf16: found[2], source: found[3] };
}

const ASKED = "nvidia-smi";
const POLL_MS = 300;

/** What nvidia-smi lists; nothing where there is none. */
export async function listedCards() {
  const found = await asked(["index", "name", "driver_version", "memory.total"]).catch(() => []);
  return found.map(([index, name, driver, memory]) => {
    return { index: Number(index), name, driver, memoryMiB: number(memory) };
  });
}

/**
 * Polls the memory in use, some times a second. It is of the whole card: others that use it meanwhile are counted.
 * @returns `start()`, before a measurement; `peak()`, after it: MiB beyond what was in use at its start, and on which card; null
 *   where nothing can be asked. `stop()` ends it.
 */
export function watchMemory(listed) {
  const stopping = new AbortController();
  let base = new Map();
  let most = new Map();
  const look = async () => {
    for (const [index, used] of await memoryInUse()) {
      if (!base.has(index)) base.set(index, used);
      most.set(index, Math.max(most.get(index) ?? 0, used));
    }
  };
  const polling = async () => {
    while (!stopping.signal.aborted) {
      await look();
      await setTimeout(POLL_MS, null, { signal: stopping.signal }).catch(() => null);
    }
  };
  if (listed.length > 0) void polling();
  return {
    async start() {
      base = listed.length > 0 ? await memoryInUse() : new Map();
      most = new Map();
    },
    peak() {
      const rises = [...most].map(([index, used]) => ({ index, mib: used - base.get(index) }));
      return rises.toSorted((a, b) => b.mib - a.mib)[0] ?? null;
    },
    stop: () => stopping.abort(),
  };
}

/** MiB by card. Asked anew each time: what a running nvidia-smi prints may wait in its buffer. */
async function memoryInUse() {
  const found = await asked(["index", "memory.used"]).catch(() => []);
  const pairs = found.map(([index, used]) => [Number(index), number(used)]);
  return new Map(pairs.filter(([, used]) => used !== null));
}

async function asked(fields) {
  const query = [`--query-gpu=${fields.join()}`, "--format=csv,noheader,nounits"];
  const { stdout } = await promisify(execFile)(ASKED, query, { timeout: 30_000 });
  const lines = stdout.trim().split("\n");
  return lines.map((line) => line.split(", "));
}

/** nvidia-smi says `[N/A]` for what a card does not tell. */
function number(text) {
  const value = Number(text);
  return text === undefined || Number.isNaN(value) ? null : value;
}
