/** Every operator; the numeric gradient check runs over this list. */
import type { Op } from "../graph.ts";
import * as elementwise from "./elementwise.ts";
import { gather, gatherElements, scatterElements, scatterNd } from "./indexing.ts";
import { gemm, matMul } from "./linear.ts";
import { logSoftmax, rotaryEmbedding, simplifiedLayerNormalization, softmax } from "./nn.ts";
import { reduceMaxOp, reduceMeanOp, reduceSumOp } from "./reduce.ts";
import { concat, expandOp, reshapeOp, sliceOp, splitOp, transposeOp } from "./shape.ts";

export const allOps: readonly Op[] = [
  ...Object.values(elementwise).filter((each) => "infer" in each),
  matMul,
  gemm,
  reduceSumOp,
  reduceMeanOp,
  reduceMaxOp,
  reshapeOp,
  transposeOp,
  expandOp,
  concat,
  sliceOp,
  splitOp,
  gather,
  scatterNd,
  gatherElements,
  scatterElements,
  softmax,
  logSoftmax,
  simplifiedLayerNormalization,
  rotaryEmbedding,
];

export { allComposites } from "./composites.ts";
