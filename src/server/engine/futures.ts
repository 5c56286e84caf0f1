import { randomUUID } from "node:crypto";
import { AgentrlError } from "../../base/errors.ts";
import { type Admission, admission } from "../admission.ts";
import { ApiError } from "./request-body.ts";

/** The result of a future, in the two encodings that a client may ask for. */
export interface FutureResult {
  json: object;
  /** Absent: it has JSON alone. */
  protobuf?: () => Uint8Array;
}

/** Results that clients fetch later, by id. */
export interface Futures {
  /**
   * Begins work.
   * @param bytes that it holds until it has ended.
   * @returns the future's id.
   * @throws {ApiError} 429 when the work under way holds too much.
   */
  begin(work: () => Promise<FutureResult>, bytes?: number): string;
  /** Waits a while for a result. @returns null when it is not there yet. @throws {ApiError} 404 for an unknown id; the work's failure. */
  result(id: string, waitMs: number): Promise<FutureResult | null>;
}

/** Results that stay for clients that ask again. */
const KEPT = 1024;

/** Bytes of bodies whose work waits for its turn. */
const MOST_BYTES = 2 ** 29;

/** @param onError receives failures that are not the client's. */
export function openFutures(
  onError: (error: unknown) => void,
  room: Admission = admission(Infinity, MOST_BYTES),
): Futures {
  const all = new Map<string, Promise<FutureResult>>();
  const finished: string[] = [];
  return {
    begin(work, bytes = 0) {
      const place = room.enter(bytes);
      if (typeof place === "string")
        throw new ApiError(429, "Too much work waits for its turn. Try again later.");
      const id = randomUUID();
      const result = work().finally(() => {
        place.leave();
        finished.push(id);
        if (finished.length > KEPT) all.delete(finished.shift() ?? "");
      });
      result.catch(() => undefined);
      all.set(id, result);
      return id;
    },
    async result(id, waitMs) {
      const found = all.get(id);
      if (found === undefined) throw new ApiError(404, "Future not found");
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(resolve, waitMs, null);
      });
      try {
        return await Promise.race([found, late]);
      } catch (error) {
        if (!(error instanceof AgentrlError) && !(error instanceof ApiError)) onError(error);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
