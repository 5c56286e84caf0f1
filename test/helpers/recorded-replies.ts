import { readFileSync } from "node:fs";

/** What a real server answered once. */
export interface RecordedReply {
  status: number;
  body: unknown;
}

/** Replies of a real MLflow and a real Trackio server; test/golden/reporters/record.py makes them. */
export function recordedReplies(server: "mlflow" | "trackio"): (name: string) => RecordedReply {
  const file = new URL("../golden/reporters/replies.json", import.meta.url);
  const all = JSON.parse(readFileSync(file, "utf8")) as Record<
    "mlflow" | "trackio",
    Record<string, RecordedReply>
  >;
  return (name) => {
    const reply = all[server][name];
    if (reply === undefined) throw new Error(`replies.json has no reply "${name}" of ${server}.`);
    return reply;
  };
}
