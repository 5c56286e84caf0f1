import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineStage, z } from "agentrl";

export default defineStage({
  name: "count-types",
  summary: "Counts the questions of each type.",
  options: z.strictObject({ limit: z.int().min(1).default(1000) }),
  // `out` is the stage's folder. The session also has `settings`, `draws`, `signal`, and opens the `engine`.
  async run({ out, dataset }, { limit }) {
    const counts = {};
    let questions = 0;
    for await (const { annotations } of (await dataset("training")).stream(limit)) {
      const type = annotations.type ?? "unknown";
      counts[type] = (counts[type] ?? 0) + 1;
      questions += 1;
    }
    await writeFile(join(out, "types.json"), JSON.stringify(counts));
    // A stage that trains names the folder of its policy. Numbers beside it can be claimed: stages.count-types.questions.
    return { policy: null, questions, types: Object.keys(counts).length };
  },
});
