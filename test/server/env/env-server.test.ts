import { describe, expect, it } from "vitest";
import { connectEnv, serveRecipeEnv } from "../../helpers/served-env.ts";
import { errorWith } from "../../helpers/error-with.ts";

const json = async (url: string, body?: object): Promise<{ status: number; body: unknown }> => {
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  const response = await fetch(url, body && { ...init, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
};

describe("an environment server", () => {
  it("refuses sessions beyond its capacity, and takes the next when one has left", async () => {
    const { server } = await serveRecipeEnv("search-r1", { maxSessions: 2 });
    const [one] = [await connectEnv(server.url), await connectEnv(server.url)];
    const third = await connectEnv(server.url);
    expect(await third.read()).toMatchObject({
      type: "error",
      data: { code: "CAPACITY_REACHED", active_sessions: 2, max_sessions: 2 },
    });
    expect(await third.closed()).toBe(1013);
    expect((await json(`${server.url}/reset`, {})).status).toBe(503);
    one.send('{"type":"close"}');
    expect(await one.closed()).toBe(1000);
    const next = await connectEnv(server.url);
    expect(await next.ask("reset")).toMatchObject({ type: "observation" });
  });

  it("refuses a message that no model could write within its budget, and the episode goes on", async () => {
    const { server } = await serveRecipeEnv("search-r1", { bodyLimit: 2 ** 20 });
    const client = await connectEnv(server.url);
    await client.ask("reset", { seed: 0 });
    const long = await client.ask("step", { message: `<search>${"x ".repeat(100_000)}</search>` });
    expect(long.data.code).toBe("VALIDATION_ERROR");
    expect(long.data.message).toContain("200017 characters");
    expect((await client.ask("step", { message: "<search>x</search>" })).type).toBe("observation");
  });

  it("answers malformed messages with OpenEnv's codes, and the session goes on", async () => {
    const { server } = await serveRecipeEnv("search-r1");
    const client = await connectEnv(server.url);
    const codeOf = async (raw: string): Promise<unknown> => {
      client.send(raw);
      return (await client.read()).data.code;
    };
    expect(await codeOf("{nope")).toBe("INVALID_JSON");
    expect(await codeOf("[1]")).toBe("VALIDATION_ERROR");
    expect(await codeOf('{"type":"what"}')).toBe("UNKNOWN_TYPE");
    expect(await codeOf('{"type":"step","data":{"message":"early"}}')).toBe("EXECUTION_ERROR");
    expect(await codeOf('{"type":"reset","data":{"seed":-1}}')).toBe("VALIDATION_ERROR");
    expect(await codeOf('{"type":"reset","data":{"index":16}}')).toBe("VALIDATION_ERROR");
    expect(await codeOf('{"type":"reset","data":{"split":"test"}}')).toBe("VALIDATION_ERROR");
    expect((await client.ask("reset", { seed: 0 })).type).toBe("observation");
    const wrong = await client.ask("step", { nope: 1 });
    expect(wrong.data).toMatchObject({ code: "VALIDATION_ERROR", errors: [{ loc: ["nope"] }] });
    expect(await codeOf('{"type":"step","data":{}}')).toBe("VALIDATION_ERROR");
    // verifiers parses what a model writes, so the message 42 arrives as a number.
    expect((await client.ask("step", { message: 42 })).data.metadata).toMatchObject({
      problems: [expect.any(String)],
    });
    const mcp = await client.ask("mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(mcp).toMatchObject({ type: "mcp", data: { id: 1, error: { code: -32603 } } });
    const over = await client.ask("step", { message: "<answer>x</answer>" });
    expect(over.data.done).toBe(true);
    expect(await codeOf('{"type":"step","data":{"message":"late"}}')).toBe("EXECUTION_ERROR");
  });

  it("closes sessions that say nothing, say too much, or send too large messages", async () => {
    const { server } = await serveRecipeEnv("search-r1", { sessionMs: 300, bodyLimit: 1000 });
    const idle = await connectEnv(server.url);
    expect((await idle.read()).data.code).toBe("SESSION_ERROR");
    expect(await idle.closed()).toBe(1001);
    const large = await connectEnv(server.url);
    large.send(JSON.stringify({ type: "step", data: { message: "x".repeat(2000) } }));
    expect(await large.closed()).toBe(1009);
    const hasty = await connectEnv(server.url);
    for (let i = 0; i < 40; i++) hasty.send('{"type":"reset"}');
    expect(await hasty.closed()).toBe(1008);
    await expect.poll(() => server.stats().sessions).toBe(0);
    // A client that reads nothing keeps no place: it has two seconds to close its side.
    const deaf = await connectEnv(server.url);
    deaf.socket.pause();
    expect(server.stats().sessions).toBe(1);
    await expect.poll(() => server.stats().sessions, { timeout: 4000 }).toBe(0);
  });

  it("ends the episode of a client that leaves, and others go on", async () => {
    const { server } = await serveRecipeEnv("search-r1");
    const [leaver, other] = [await connectEnv(server.url), await connectEnv(server.url)];
    await leaver.ask("reset", { seed: 0 });
    await other.ask("reset", { seed: 0 });
    leaver.socket.terminate();
    expect((await other.ask("step", { message: "<answer>x</answer>" })).data.done).toBe(true);
  });

  it("takes the next question where a reset names none, also for resets at once", async () => {
    const { server, episodes } = await serveRecipeEnv("search-r1");
    const clients = await Promise.all([0, 1, 2].map(() => connectEnv(server.url)));
    const first = await Promise.all(clients.map((client) => client.ask("reset")));
    const ids = first.map(({ data }) => data.metadata?.["task_id"]);
    expect(ids.toSorted()).toEqual(episodes.tasks.slice(0, 3).map(({ id }) => id));
  });

  it("describes itself and lists its questions, without answers", async () => {
    const { server, episodes } = await serveRecipeEnv("search-r1");
    const { url } = server;
    expect(await json(`${url}/health`)).toEqual({ status: 200, body: { status: "healthy" } });
    expect((await json(`${url}/metadata`)).body).toMatchObject({ name: "search-r1", version: "0" });
    const { body: schema } = await json(`${url}/schema`);
    expect(schema).toMatchObject({
      action: { required: ["message"] },
      observation: { properties: { text: { type: "string" } } },
      state: { title: "AgentrlState" },
    });
    expect((await json(`${url}/list_environments`)).body).toEqual(["search-r1"]);
    const at = `${url}/search-r1`;
    const split = "train";
    expect((await json(`${at}/splits`)).body).toEqual([{ name: split, type: split }]);
    expect((await json(`${at}/num_tasks`, { split })).body).toEqual({ num_tasks: 16 });
    const [{ id, question }] = episodes.tasks.slice(3) as [(typeof episodes.tasks)[0]];
    const task = { id, index: 3, question };
    expect((await json(`${at}/task`, { split, index: 3 })).body).toEqual({ task });
    expect((await json(`${at}/task`, { split, index: 16 })).status).toBe(400);
    expect((await json(`${at}/task_range`, { split, start: -13, stop: 4 })).body).toEqual({
      tasks: [task],
    });
    expect((await json(`${at}/tasks`, { split: "other" })).status).toBe(422);
    expect((await json(`${url}/other/tasks`, { split })).status).toBe(404);
  });

  it("resets and steps over HTTP, each request in an environment of its own", async () => {
    const { server } = await serveRecipeEnv("search-r1");
    const reset = await json(`${server.url}/reset`, { seed: 2 });
    expect(reset.body).toMatchObject({ reward: null, done: false });
    const step = await json(`${server.url}/step`, { action: { message: "<answer>x</answer>" } });
    expect(step.body).toMatchObject({ reward: 0, done: true });
    expect((await json(`${server.url}/step`, { action: {} })).status).toBe(422);
    expect((await json(`${server.url}/state`)).body).toMatchObject({ step_count: 0 });
  });

  it("needs a token beyond this machine, and then lets nobody in without it", async () => {
    const open = serveRecipeEnv("search-r1", { host: "0.0.0.0" });
    await expect(open).rejects.toThrow(errorWith("SERVER_UNPROTECTED"));
    const { server } = await serveRecipeEnv("search-r1", { token: "secret" });
    await expect(connectEnv(server.url)).rejects.toThrow("401");
    expect((await json(`${server.url}/metadata`)).status).toBe(401);
    expect((await json(`${server.url}/health`)).status).toBe(200);
    const client = await connectEnv(server.url, { authorization: "Bearer secret" });
    expect((await client.ask("reset")).type).toBe("observation");
  });

  it("tells clients of agentrl's own failures only, and the log of all", async () => {
    const errors: unknown[] = [];
    const { server, episodes } = await serveRecipeEnv("search-r1", {
      onError: (e) => errors.push(e),
    });
    Object.assign(episodes.environment, {
      start: () => {
        throw new TypeError("/home/me/private");
      },
    });
    const client = await connectEnv(server.url);
    const { data } = await client.ask("reset");
    expect(data).toMatchObject({ code: "EXECUTION_ERROR" });
    expect(data.message).not.toContain("private");
    expect(errors).toHaveLength(1);
  });
});
