import { request } from "node:http";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { accessRule } from "../../src/server/server-app.ts";
import { type AskedServer, fourServers } from "../helpers/four-servers.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

type Headers = Record<string, string>;

interface Got {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** As a program writes it: fetch sets Host itself. */
function ask(url: string, method: string, headers: Headers, body = ""): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (reply) => {
      let text = "";
      reply.on("data", (piece: Buffer) => (text += piece.toString()));
      reply.on("end", () => {
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function post(server: AskedServer, headers: Headers): Promise<Got> {
  const { path, body } = server.ask;
  const all = { "content-type": "application/json", ...headers };
  return ask(server.url + path, "POST", all, JSON.stringify(body));
}

/** The status with which an upgrade is refused; 101: a WebSocket is open. */
function upgrade(url: string, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.on("unexpected-response", (_request, reply) => {
      resolve(reply.statusCode ?? 0);
    });
    socket.on("error", reject);
  });
}

const portOf = (url: string): string => new URL(url).port;

/** What pages of other origins send, and pages whose name resolves to this machine. */
const foreign = (port: string): Headers[] => [
  { host: "evil.example", origin: "http://evil.example" },
  { host: `evil.example:${port}` },
  { host: "localhost.evil.example" },
  { host: "127.0.0.1.evil.example" },
  { host: "127.0.0.1@evil.example" },
  { host: "192.168.1.5" },
  { host: "0.0.0.0" },
  { origin: "http://evil.example" },
  { origin: "null" },
  { origin: "https://127.0.0.1.evil.example" },
  { origin: "http://127.0.0.1:1" },
  { origin: `http://localhost:${port}` },
  { origin: "file://" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
];

/** What programs on this machine send. */
const native = (port: string): Headers[] => [
  {},
  { host: "127.0.0.1" },
  { host: `LOCALHOST:${port}` },
  { host: "localhost.:9000" },
  { host: "[::1]:9000" },
  { host: "127.0.0.53" },
  { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}` },
  { "sec-fetch-site": "none" },
];

it("no server without a token answers a page of another origin, or under another name", async () => {
  for (const server of await fourServers(folder)) {
    const port = portOf(server.url);
    for (const headers of foreign(port)) {
      const what = `${server.name} ${JSON.stringify(headers)}`;
      const got = [
        await post(server, headers),
        await post(server, { ...headers, "content-type": "text/plain" }),
        await ask(server.url + server.health, "GET", headers),
        await ask(`${server.url}/none`, "GET", headers),
        await ask(server.url + server.ask.path, "OPTIONS", {
          ...headers,
          "access-control-request-method": "POST",
        }),
      ];
      for (const { status, headers: replied, body } of got) {
        expect(status, what).toBe(403);
        expect(body).toMatch(/Host|Origin|Sec-Fetch-Site/);
        expect(body).toContain("--token-env");
        expect(Object.keys(replied).filter((name) => name.startsWith("access-control"))).toEqual(
          [],
        );
      }
      if (server.name === "serve env") expect(await upgrade(server.url, headers), what).toBe(403);
    }
    expect(server.effects()).toBe(0);
    for (const headers of native(port)) {
      const what = `${server.name} ${JSON.stringify(headers)}`;
      expect((await post(server, headers)).status, what).toBe(200);
      expect((await ask(server.url + server.health, "GET", headers)).status, what).toBe(200);
      if (server.name === "serve env") expect(await upgrade(server.url, headers), what).toBe(101);
    }
  }
}, 60_000);

it("the token opens a server under every name: behind a proxy, for another machine", async () => {
  const key = { authorization: "Bearer s3cret" };
  for (const server of await fourServers(folder, "s3cret")) {
    for (const headers of foreign(portOf(server.url))) {
      const what = `${server.name} ${JSON.stringify(headers)}`;
      expect((await post(server, { ...headers, ...key })).status, what).toBe(200);
      expect((await post(server, headers)).status, what).toBe(403);
      expect((await ask(server.url + server.health, "GET", headers)).status, what).toBe(403);
    }
    expect((await post(server, {})).status).toBe(401);
    expect((await post(server, { authorization: "Bearer other" })).status).toBe(401);
  }
}, 60_000);

it("a server for other machines looks at the token alone", () => {
  for (const host of ["0.0.0.0", "::", "gpu-box", "10.0.0.5"]) {
    expect(() => accessRule({ host })).toThrow("--token-env");
    const access = accessRule({ host, token: "s3cret" });
    for (const headers of foreign("8000")) {
      expect(access({ ...headers, authorization: "Bearer s3cret" })).toBeNull();
      expect(access(headers)).toEqual({ status: 401 });
      expect(access(headers, true)).toBeNull();
    }
  }
  for (const host of ["localhost", "LOCALHOST.", "::1", "127.0.0.2", "127.1"])
    expect(accessRule({ host })({ host: "127.0.0.1" })).toBeNull();
});
