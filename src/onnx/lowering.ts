import type { Attributes } from "../autodiff/graph.ts";
import type { DeviceName } from "./device-names.ts";

/** A node in the emitted model. */
export interface EmittedNode {
  opType: string;
  domain: string;
  name: string;
  input: string[];
  output: string[];
  attributes: Attributes;
}

/** Replacements for operators that a device's provider lacks or implements partly. */
const lowerings: Partial<Record<DeviceName, Record<string, (node: EmittedNode) => EmittedNode[]>>> =
  { webgpu: { LogSoftmax: logSoftmax, SimplifiedLayerNormalization: rmsNorm } };

/** The node itself, or the nodes that replace it on a device. */
export function lowered(node: EmittedNode, device: DeviceName): EmittedNode[] {
  const lower = lowerings[device]?.[node.opType];
  return lower === undefined ? [node] : lower(node);
}

/** x − max − ln Σ e^(x − max) along the last axis. */
function logSoftmax({ input: [x], output: [y] }: EmittedNode): EmittedNode[] {
  const of = (part: string): string => `${y!}.${part}`;
  return [
    step("Constant", [], of("axis"), { value_ints: [-1] }),
    step("ReduceMax", [x!, of("axis")], of("max"), { keepdims: 1 }),
    step("Sub", [x!, of("max")], of("shifted")),
    step("Exp", [of("shifted")], of("exp")),
    step("ReduceSum", [of("exp"), of("axis")], of("sum"), { keepdims: 1 }),
    step("Log", [of("sum")], of("log")),
    step("Sub", [of("shifted"), of("log")], y!),
  ];
}

/** The kernel does not write its second output, 1 / √(mean(x²) + ε); if a node reads it, this computes it. */
function rmsNorm(node: EmittedNode): EmittedNode[] {
  const {
    input: [x],
    output: [y, r],
    attributes: { epsilon },
  } = node;
  if (r === undefined) return [node];
  const of = (part: string): string => `${r}.${part}`;
  return [
    { ...node, output: [y!] },
    step("Constant", [], of("axis"), { value_ints: [-1] }),
    step("Constant", [], of("epsilon"), { value_float: epsilon! }),
    step("Mul", [x!, x!], of("squares")),
    step("ReduceMean", [of("squares"), of("axis")], of("mean"), { keepdims: 1 }),
    step("Add", [of("mean"), of("epsilon")], of("shifted")),
    step("Sqrt", [of("shifted")], of("root")),
    step("Reciprocal", [of("root")], r),
  ];
}

function step(
  opType: string,
  input: string[],
  output: string,
  attributes: Attributes = {},
): EmittedNode {
  return { opType, domain: "", name: output, input, output: [output], attributes };
}
