import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  decodeCall,
  decodeReply,
  decodeSample,
  encodeCall,
  encodeReply,
  encodeSample,
} from "../../../src/engine/tinker/messages.ts";

const recorded = join(
  import.meta.dirname,
  "../../../../shared/data/exchanges/skyrl-0.4.0-sdk-0.38",
);

describe("messages in protobuf", () => {
  it("are read as they were written", () => {
    const call = {
      modelId: "m",
      seqId: 300,
      lossFn: "ppo",
      forwardOnly: true,
      rows: [{ tokens: [1, 2], fields: { target_tokens: [2, 70_000], advantages: [0.5, -1] } }],
      config: { clip_low_threshold: 0.75 },
    };
    expect(decodeCall(encodeCall(call))).toEqual(call);
    const reply = {
      outputs: [{ logprobs: [-1, -2] }, { logprobs: [-0.5] }],
      metrics: { "loss:sum": 3 },
    };
    expect(decodeReply(encodeReply(reply))).toEqual(reply);
    const sample = {
      sequences: [{ tokens: [5], logprobs: [-1], stopReason: "length" as const }],
      promptLogprobs: [NaN, -2],
    };
    expect(decodeSample(encodeSample(sample))).toEqual(sample);
  });

  it("that are cut are an error", () => {
    const whole = encodeReply({ outputs: [{ logprobs: [-1, -2] }], metrics: {} });
    expect(() => decodeReply(whole.subarray(0, whole.length - 3))).toThrow(RangeError);
  });

  it.skipIf(!existsSync(recorded))("of the official SDK and SkyRL are read (recorded)", () => {
    const files = readdirSync(recorded).sort();
    const bodies = files.map((file) => readFileSync(join(recorded, file), "utf8"));
    const calls = bodies.flatMap((text) => {
      const { request, response } = JSON.parse(text) as Record<
        "request" | "response",
        { body: { base64?: string } }
      >;
      const bytes = (of: { body: { base64?: string } }): Buffer | null =>
        of.body.base64 === undefined ? null : Buffer.from(of.body.base64, "base64");
      return [{ sent: bytes(request), got: bytes(response) }];
    });
    const sent = calls.flatMap(({ sent: each }) => (each === null ? [] : [decodeCall(each)]));
    expect(sent[0]).toMatchObject({ seqId: 1, lossFn: "cross_entropy", forwardOnly: false });
    expect(sent[0]?.rows[0]?.tokens).toEqual([1, 10, 20, 30, 40, 50]);
    expect(sent[0]?.rows[0]?.fields["weights"]).toEqual([0, 0, 1, 1, 1, 1]);
    const got = calls.flatMap(({ got: each }) => (each === null ? [] : [decodeReply(each)]));
    expect(got[0]?.outputs.map(({ logprobs }) => logprobs?.length)).toEqual([6, 4]);
  });
});
