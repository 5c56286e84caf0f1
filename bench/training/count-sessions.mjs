// Loaded before a run (node --import): writes one line to $SESSIONS_FILE for each graph that the runtime compiles, in any thread.
import { appendFileSync } from "node:fs";
import { InferenceSession } from "onnxruntime-node";

const { create } = InferenceSession;
InferenceSession.create = async (...given) => {
  const start = performance.now();
  const session = await create.apply(InferenceSession, given);
  const line = { at: Date.now(), seconds: (performance.now() - start) / 1000 };
  appendFileSync(process.env.SESSIONS_FILE, `${JSON.stringify(line)}\n`);
  return session;
};
