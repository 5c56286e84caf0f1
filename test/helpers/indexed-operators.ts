/** Operators that read integers at run time, and of which type; for the others integers in examples are shape arguments. */
export const INDEXED: Record<string, "int32" | "int64"> = {
  Gather: "int32",
  GatherElements: "int32",
  ScatterElements: "int32",
  ScatterND: "int64",
  RotaryEmbedding: "int64",
};
