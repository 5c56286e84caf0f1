import { ExternalError, RolloutError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { readApiKey } from "../http/api-key.ts";
import { type HttpClient, httpClient } from "../http/client.ts";
import { allOrAbort } from "../http/concurrency.ts";
import { httpShape, serverAddress } from "../http/http-options.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { defineReward, type Scored } from "./reward.ts";

const options = z.strictObject({
  /** The address that each trajectory is sent to. */
  url: serverAddress,
  /** Environment variable that holds the server's token, sent as `Authorization: Bearer`. */
  apiKeyEnv: z.string().min(1).nullable().default(null),
  ...httpShape,
});

const replySchema = z.object({ score: z.number().nullable() });

/**
 * A score that a server gives (docs/rewards.md has the contract). One POST per trajectory; equal requests are sent once per run.
 *
 * Where the server cannot be reached, all trajectories of the call are unscored at once; any other failure leaves its trajectory
 * unscored.
 */
export const http = defineReward({
  name: "http",
  summary: "The score that a server gives to question, answer and transcript.",
  source: "the remote reward model of OpenRLHF, with a contract of our own",
  options,
  async scoreAll(scored, settings, { cache, signal }) {
    const client = clientOf(settings);
    const score = (body: object, stop: AbortSignal): Promise<number | null> =>
      cache.get(body, async () => {
        const asked = { body, idempotent: true, signal: stop };
        return (await client.json(asked, replySchema)).value.score;
      });
    const ask = async (each: Scored, stop: AbortSignal) => {
      try {
        return await score(requestOf(each), stop);
      } catch (error) {
        if (!(error instanceof ExternalError)) throw error;
        const failure = new RolloutError(error.code, error.message, { cause: error });
        if (error.code === "HTTP_UNREACHABLE") throw failure;
        return failure;
      }
    };
    return allOrAbort(scored, ask, signal);
  },
});

/** What the server is sent, as JSON. Nothing in it differs between two equal trajectories. */
function requestOf({ task, trajectory }: Scored): object {
  const { id, question, references } = task;
  const { answer, end } = trajectory;
  return { taskId: id, question, references, answer, end, transcript: transcriptOf(trajectory) };
}

interface Message {
  role: "assistant" | "tool";
  /** The tool. */
  name?: string;
  content: string;
}

function transcriptOf({ given = [], turns }: Trajectory): Message[] {
  const results = (observations: typeof given): Message[] =>
    observations.map(({ tool, text }) => ({ role: "tool", name: tool, content: text }));
  const messages = turns.flatMap(({ text, observations }): Message[] => [
    { role: "assistant", content: text },
    ...results(observations),
  ]);
  return [...results(given), ...messages];
}

function clientOf(settings: z.output<typeof options>): HttpClient {
  const { url, apiKeyEnv } = settings;
  const nameOf = (key: string): string => `rewards (http).${key}`;
  const endpoint = { name: 'reward "http"', url, settings, nameOf };
  if (apiKeyEnv === null) return httpClient(endpoint);
  const key = readApiKey(apiKeyEnv, nameOf("apiKeyEnv"));
  const headers = { authorization: `Bearer ${key}` };
  return httpClient({ ...endpoint, headers, keys: { [apiKeyEnv]: key } });
}
