import { type WebAssemblyApi, wasmModule } from "../../base/wasm.ts";
import { nearKernel } from "../kernels.ts";

/** Vectors that one turn of the kernel compares. */
export const NEAR_LANES = 4;

/** The ids that are compared (u32) lie at address 0; near.wat reads their scores (f32), a word and the query at these. */
export const SCORES = 2064;
const WORD = 4128;
export const QUERIES = WORD + 16;

/** The functions of near.wat. */
export interface NearKernel {
  /**
   * Writes the inner products of the query with the vectors that are listed, to `SCORES`.
   * @param turns at least 1: so many times four vectors are compared.
   */
  near: (turns: number) => void;
  /**
   * Compares the query with a vector's neighbours that are not marked yet, and marks them. Those of a score above the
   * floor are listed then, with their scores.
   *
   * @param links address of [count, ids …], the count in 16 bits.
   * @param next that of the vector which will probably be the next: its links are fetched meanwhile.
   * @param mark 1 to 255.
   * @returns how many are listed.
   */
  expand: (links: number, next: number, mark: number, floor: number) => number;
}

/** Where in memory things lie, in bytes from its start. */
export interface NearPlaces {
  query: number;
  queryEnd: number;
  /** The first vector, and how far apart they are. */
  vectors: number;
  stride: number;
  /** What each vector's score is multiplied with (f32), of int8 alone; 0 where there is nothing of the kind. */
  scales: number;
  /** A byte of each vector. */
  marks: number;
  /** Bytes of a vector's links. */
  linkBytes: number;
}

/** How the vectors that are compared are kept: as they are, or as bytes that whole numbers of 16 bits are multiplied with. */
export type NearStorage = "f32" | "int8";

/** Queries, and vectors of bytes, are filled up with zeros to a multiple of so many numbers. */
export const NEAR_STEP: Readonly<Record<NearStorage, number>> = { f32: 4, int8: 16 };

/** The kernel over a memory. */
export function openNearKernel(
  api: WebAssemblyApi,
  memory: object,
  storage: NearStorage,
  places: NearPlaces,
): NearKernel {
  const env = { memory, isInt8: Number(storage === "int8"), ...places };
  const { exports } = new api.Instance(wasmModule(api, nearKernel), { env });
  return exports as unknown as NearKernel;
}
