/**
 * Seeded random numbers: xoshiro128** seeded with SplitMix32, bit-identical on every machine.
 * Streams are derived by name, so that more draws from one never shift another.
 */
export interface Random {
  /** Uniform in [0, 1), 32 bits of resolution. */
  next(): number;
  /** Uniform integer in [0, n). n at least 1, at most 2³². */
  int(n: number): number;
  normal(): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** An independent stream for these keys; does not advance this one. */
  derive(...keys: (string | number)[]): Random;
  /** The four words of state, for a checkpoint. */
  state(): [number, number, number, number];
}

/** A stream from a seed (any safe integer or string). */
export function random(seed: number | string): Random {
  return fromState(seedState(String(seed)));
}

/** A stream that continues from a `state()`. */
export function randomFromState(state: readonly [number, number, number, number]): Random {
  return fromState([...state]);
}

/** 32-bit hash of keys, for numeric seeds (an engine request's `seed`). */
export function seedFrom(...keys: (string | number)[]): number {
  return hash32(keys.join("\u0000"));
}

function fromState(s: [number, number, number, number]): Random {
  const origin = s.join("\u0000");
  const nextWord = (): number => {
    const result = Math.imul(rotl(Math.imul(s[1], 5), 7), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return result;
  };
  const self: Random = {
    next: () => nextWord() / 4294967296,
    int: (n) => Math.floor((nextWord() / 4294967296) * n),
    normal: () => {
      const radius = Math.sqrt(-2 * Math.log(1 - self.next()));
      return radius * Math.cos(2 * Math.PI * self.next());
    },
    pick: (items) => items[self.int(items.length)]!,
    shuffle: (items) => {
      const out = [...items];
      for (let i = out.length - 1; i > 0; i--) {
        const j = self.int(i + 1);
        [out[i], out[j]] = [out[j]!, out[i]!];
      }
      return out;
    },
    derive: (...keys) => random(`${origin}\u0000${keys.join("\u0000")}`),
    state: () => [s[0] >>> 0, s[1] >>> 0, s[2] >>> 0, s[3] >>> 0],
  };
  return self;
}

function seedState(text: string): [number, number, number, number] {
  let x = hash32(text);
  const word = (): number => {
    x = (x + 0x9e3779b9) | 0;
    let z = x;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  const extra = hash32(`${text}#2`);
  return [word(), word() ^ extra, word(), word() | 1];
}

/** FNV-1a over UTF-16 units with a final avalanche. */
function hash32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

function rotl(x: number, k: number): number {
  return (x << k) | (x >>> (32 - k));
}
