import type { ParameterSpec } from "../../../src/models/parameters.ts";
import type { NamedTensor } from "../../../src/models/safetensors.ts";

export function formulaWeights(specs: readonly ParameterSpec[]): NamedTensor[];
export function formulaIds(count: number, vocabSize: number): number[];
