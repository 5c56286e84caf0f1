import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "../../src/base/schema.ts";
import { httpClient } from "../../src/http/client.ts";
import { httpShape } from "../../src/http/http-options.ts";
import { routeTo } from "../../src/http/route.ts";
import { fetchFile } from "../../src/http/transfer.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";
import { proxyServer } from "../helpers/proxy.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
const server = await localServer((request, response) => {
  if (request.url === "/moved") response.writeHead(302, { location: "/there" }).end();
  else sendJson(response, { url: request.url, authorization: request.headers.authorization });
});
const proxy = await proxyServer();
const strict = await proxyServer("someone:secret/word");
/** A host that only the proxy finds. */
const far = server.url.replace("127.0.0.1", "far.example");

function clientOf(url: string) {
  const settings = z.object(httpShape).parse({ retries: 0 });
  return httpClient({ name: "probe", url, settings, headers: {}, keys: {} });
}

beforeEach(() => {
  for (const name of VARIABLES.flatMap((each) => [each, each.toLowerCase()])) vi.stubEnv(name, "");
  proxy.proxied.length = 0;
  strict.proxied.length = 0;
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("routeTo", () => {
  it("goes over the proxy of the scheme, except to the hosts of NO_PROXY and to this machine", () => {
    vi.stubEnv("HTTP_PROXY", "http://plain.example:3128");
    vi.stubEnv("https_proxy", "http://safe.example:3129");
    vi.stubEnv("NO_PROXY", "near.example, .inside.example, other.example:8080");
    const over = (url: string): string | null => routeTo(new URL(url)).proxy;
    expect(over("http://a.example/x")).toBe("http://plain.example:3128");
    expect(over("https://a.example/x")).toBe("http://safe.example:3129");
    for (const host of ["near.example", "deep.inside.example", "other.example:8080"])
      expect(over(`http://${host}/`), host).toBeNull();
    expect(over("http://other.example/")).toBe("http://plain.example:3128");
    for (const host of ["localhost:1", "127.0.0.1:1", "127.8.9.1", "[::1]:8000"])
      expect(over(`http://${host}/`), host).toBeNull();
  });

  it("keeps one set of connections for each proxy, and none for a request that is alone", () => {
    vi.stubEnv("ALL_PROXY", "http://name:word@plain.example:3128");
    const route = routeTo(new URL("https://a.example"));
    expect(route.proxy).toBe("http://plain.example:3128");
    expect(routeTo(new URL("https://b.example")).dispatcher).toBe(route.dispatcher);
    expect(routeTo(new URL("https://b.example"), "alone").dispatcher).not.toBe(route.dispatcher);
    expect(routeTo(new URL("http://b.example")).dispatcher).not.toBe(route.dispatcher);
  });

  it.each([
    ["socks5://secret@host:1", /protocol socks5:\/\/\. Known: http:\/\/host:port/],
    ["http://secret@:::", /not a valid address/],
  ])("names a variable that it can't use, and not what it holds", (value, found) => {
    vi.stubEnv("HTTPS_PROXY", value);
    const go = (): unknown => routeTo(new URL("https://a.example/x"));
    expect(go).toThrow(errorWith("PROXY_BAD", found));
    expect(go).not.toThrow(/secret/);
  });
});

describe("over a real proxy", () => {
  it("clients ask", async () => {
    vi.stubEnv("HTTP_PROXY", `http://${proxy.host}`);
    const reply = await clientOf(far).request({ path: "/asked" });
    expect(JSON.parse(reply.text)).toMatchObject({ url: "/asked" });
    expect(proxy.proxied).toEqual([{ line: `GET ${far}/asked`, authorization: undefined }]);
    vi.stubEnv("NO_PROXY", "far.example");
    await expect(clientOf(far).request({ path: "/asked" })).rejects.toThrow(
      errorWith("HTTP_UNREACHABLE", /far\.example/),
    );
    expect(proxy.proxied).toHaveLength(1);
  });

  it("files come, redirects followed; keys go to their own host alone", async () => {
    vi.stubEnv("HTTP_PROXY", proxy.host);
    const headers = { authorization: "Bearer key" };
    const reply = await fetchFile(`${far}/moved`, { headers });
    expect(await reply.json()).toEqual({ url: "/there", authorization: "Bearer key" });
    expect(proxy.proxied.map(({ line }) => line)).toEqual([`GET ${far}/moved`, `GET ${far}/there`]);
  });

  it("name and password are sent to it, and told to nobody", async () => {
    vi.stubEnv("HTTP_PROXY", `http://someone:secret%2Fword@${strict.host}`);
    expect((await clientOf(far).request({ path: "/" })).status).toBe(200);
    const credentials = Buffer.from("someone:secret/word").toString("base64");
    expect(strict.proxied[0]?.authorization).toBe(`Basic ${credentials}`);
    vi.stubEnv("HTTP_PROXY", `http://${strict.host}`);
    await expect(clientOf(far).request({ path: "/" })).rejects.toThrow(
      errorWith("HTTP_STATUS", /status 407.*put name and password into HTTPS_PROXY/),
    );
    vi.stubEnv("HTTP_PROXY", "http://someone:secret@127.0.0.1:9");
    const failing = clientOf(far).request({ path: "/" });
    await expect(failing).rejects.toThrow(/over the proxy http:\/\/127\.0\.0\.1:9 /);
    await expect(failing).rejects.not.toThrow(/secret/);
  });
});

const folder = temporaryFolder();
const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
const made = spawnSync("openssl", [
  ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=far.example"],
  ...["-keyout", key, "-out", certificate],
]);

describe.skipIf(made.status !== 0)("over a tunnel (skipped without openssl)", () => {
  it("clients ask and files come by https", async () => {
    const secure = createServer(
      { key: readFileSync(key), cert: readFileSync(certificate) },
      (_request, response) => response.end('{"far": true}'),
    );
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    afterAll(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const { port } = secure.address() as AddressInfo;
    const address = `https://far.example:${port}`;
    vi.stubEnv("HTTPS_PROXY", `http://${proxy.host}`);
    // Nobody vouches for this certificate.
    await expect(clientOf(address).request({ path: "/" })).rejects.toThrow(/self-signed/);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const { text } = await clientOf(address).request({ path: "/" });
    expect(JSON.parse(text)).toEqual({ far: true });
    expect(await (await fetchFile(address)).json()).toEqual({ far: true });
    expect(new Set(proxy.proxied.map(({ line }) => line))).toEqual(
      new Set([`CONNECT far.example:${port}`]),
    );
  });
});
