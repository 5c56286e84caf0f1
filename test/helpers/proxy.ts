import { createServer, request, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll } from "vitest";

/** What a proxy was asked for: `GET http://host/…` passed on, `CONNECT host:port` as a tunnel. */
export interface Proxied {
  line: string;
  authorization: string | undefined;
}

export interface Proxy {
  /** host:port */
  host: string;
  proxied: Proxied[];
}

/**
 * A real forward proxy on loopback, closed after the file's last test: passes requests on and opens tunnels, to the ports of this
 * machine whatever host is asked for. @param credentials `name:password` that it wants, if any.
 */
export async function proxyServer(credentials?: string): Promise<Proxy> {
  const proxied: Proxied[] = [];
  const wanted =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const isKnown = (asked: IncomingMessage, line: string): boolean => {
    const authorization = asked.headers["proxy-authorization"];
    proxied.push({ line, authorization });
    return wanted === undefined || authorization === wanted;
  };
  const server = createServer((asked, response) => {
    const { method, url = "", headers } = asked;
    if (!isKnown(asked, `${method} ${url}`)) {
      response.writeHead(407).end("who are you?");
      return;
    }
    const { port, pathname, search } = new URL(url);
    const onward = request({ host: "127.0.0.1", port, path: pathname + search, method, headers });
    onward.on("response", (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    asked.pipe(onward);
  });
  const sockets = new Set<Socket>();
  server.on("connect", (asked: IncomingMessage, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    if (!isKnown(asked, `CONNECT ${asked.url}`)) {
      socket.end(
        "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 12\r\n\r\nwho are you?",
      );
      return;
    }
    const onward = connect(Number(asked.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket);
      socket.pipe(onward);
    });
    onward.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, proxied };
}
