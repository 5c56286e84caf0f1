import { partSchema } from "../../base/part-schema.ts";
import { z } from "../../base/schema.ts";
import { reporters } from "./index.ts";

/** Programs that are told of a run while it goes on: `[tensorboard, { name: mlflow, url: http://127.0.0.1:5000 }]`. */
export const reportersSchema = z.array(partSchema(reporters)).default([]);
