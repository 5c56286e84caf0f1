import type { FastifyInstance } from "fastify";
import { ConfigError, errorMessage } from "../base/errors.ts";

/**
 * Starts a server, or closes it where the address cannot be used.
 * @param command for messages: `serve`.
 * @returns its address, with the port that was taken.
 * @throws {ConfigError} SERVER_ADDRESS
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  command: string,
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw new ConfigError(
      "SERVER_ADDRESS",
      `${command}: cannot listen on ${host}, port ${port} (${errorMessage(error)}). Choose another --port (0 takes any free one) or --host.`,
      { cause: error },
    );
  }
  const address = app.server.address();
  const found = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${found}`;
}
