/** Whole numbers of 32 bits, any number of them, four bytes each. */
interface GrowingArray {
  readonly length: number;
  push(value: number): void;
  /** 0 beyond the end. */
  at(index: number): number;
  /** The numbers from one place to before another, until the next `push`. */
  slice(from: number, to: number): Uint32Array;
}

/** An empty one. */
export function growingArray(): GrowingArray {
  let values = new Uint32Array(1024);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === values.length) {
        const larger = new Uint32Array(length * 2);
        larger.set(values);
        values = larger;
      }
      values[length] = value;
      length += 1;
    },
    at: (index) => (index < length ? (values[index] ?? 0) : 0),
    slice: (from, to) => values.subarray(from, to),
  };
}
