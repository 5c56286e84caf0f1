import { describe, expect, it } from "vitest";
import { Graph } from "../../../src/autodiff/graph.ts";
import { expand } from "../../../src/autodiff/ops/shape.ts";
import { ExternalError, sendError } from "../../../src/base/errors.ts";
import { answeredFailure } from "../../../src/engine/local/worker-link.ts";
import { openDevice } from "../../../src/onnx/device.ts";
import { tensorOf } from "../../../src/onnx/session.ts";

const asked = { call: "snapshot", argument: "reference" } as const;

describe("what a worker answers by a failure", () => {
  it("is named for what it is when the runtime gets no memory", async () => {
    const device = openDevice("cpu", 1);
    const graph = new Graph();
    // Four mebi rows of four mebi numbers: 64 TiB.
    const huge = expand(graph.input("value", "float32", [1]), [2 ** 22, 2 ** 22]);
    const session = await device.compile(graph, { huge });
    const failure: unknown = await session
      .run({ value: tensorOf(Float32Array.of(1), [1]) })
      .catch((error: unknown) => error);
    await device.close();
    expect(failure).toBeInstanceOf(ExternalError);
    expect(answeredFailure("engine worker 1 of 1", asked, sendError(failure))).toMatchObject({
      code: "ENGINE_OUT_OF_MEMORY",
      message: expect.stringMatching(
        /^engine worker 1 of 1: out of memory for snapshot \(onnxruntime: a graph failed: .*\)\. Lower engine\.microBatchTokens/s,
      ) as string,
    });
  });

  it("is named for what it is when V8 gets no memory for an array", () => {
    let failure: unknown;
    try {
      new ArrayBuffer(2 ** 47);
    } catch (error) {
      failure = error;
    }
    expect(answeredFailure("engine worker 1 of 1", asked, sendError(failure))).toMatchObject({
      code: "ENGINE_OUT_OF_MEMORY",
    });
  });

  it("stays an error of its own otherwise", () => {
    const failure = sendError(
      new ExternalError("RUNTIME_FAILED", "onnxruntime: a graph failed: x"),
    );
    const error = answeredFailure("engine worker 1 of 1", asked, failure);
    expect(error).toMatchObject({
      code: "RUNTIME_FAILED",
      message: expect.not.stringMatching("memory") as string,
    });
  });
});
