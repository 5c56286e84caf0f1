import { defineDataset } from "../../data/dataset.ts";
import { TINY_WORLD_VERSION, tinyDatasetOptions } from "./tiny-world-settings.ts";

/** Questions and passages of a generated world. */
export const tinyWorldDataset = defineDataset({
  name: "tinyworld",
  summary: "A generated fictional encyclopedia that no model knows.",
  version: TINY_WORLD_VERSION,
  options: tinyDatasetOptions,
  async open(settings) {
    const { tasks, passages } = await import("./open-tiny-world.ts");
    return { stream: () => tasks(settings), passages: () => passages(settings) };
  },
});
