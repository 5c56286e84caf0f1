/** Worlds of different splits share no entity name, for any seeds and sizes. "base" is for pre-training a policy. */
export const TINY_WORLD_SPLITS = ["train", "dev", "test", "base"] as const;

export type TinyWorldSplit = (typeof TINY_WORLD_SPLITS)[number];

/** A bijection of 0 … size-1 onto itself, computed without storage. */
export interface Permutation {
  readonly size: number;
  at(index: number): number;
  indexOf(value: number): number;
}

const ROUNDS = 6;

/** A seeded shuffle of 1 to 2³⁰ items in constant memory, both ways: a Feistel network over a grid, with cycle walking. @param key 32 bits. */
export function permutation(size: number, key: number): Permutation {
  const a = Math.ceil(Math.sqrt(size));
  const b = Math.ceil(size / a);
  const keys = Array.from({ length: ROUNDS }, (_, round) => mix32(key, round));
  const forward = (x: number): number => {
    let left = x % a;
    let right = (x - left) / a;
    for (let round = 0; round < ROUNDS; round++) {
      const k = keys[round] ?? 0;
      if (round % 2 === 0) left = (left + mix32(k, right)) % a;
      else right = (right + mix32(k, left)) % b;
    }
    return left + a * right;
  };
  const backward = (x: number): number => {
    let left = x % a;
    let right = (x - left) / a;
    for (let round = ROUNDS - 1; round >= 0; round--) {
      const k = keys[round] ?? 0;
      if (round % 2 === 0) left = (left + a - (mix32(k, right) % a)) % a;
      else right = (right + b - (mix32(k, left) % b)) % b;
    }
    return left + a * right;
  };
  const walk = (step: (x: number) => number, x: number): number => {
    let at = step(x);
    while (at >= size) at = step(at);
    return at;
  };
  return { size, at: (index) => walk(forward, index), indexOf: (value) => walk(backward, value) };
}

/** 32-bit hash of two 32-bit integers (MurmurHash3's finaliser over their mixture), the same on every machine. */
export function mix32(key: number, value: number): number {
  let h = Math.imul(key ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(value ^ (key >>> 15), 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
