import { ConfigError } from "../../../base/errors.ts";
import { parseOptions } from "../../../base/schema.ts";
import type { Endpoint } from "../../../http/endpoint.ts";
import { serverAddress } from "../../../http/http-options.ts";
import { environmentValue } from "../environment.ts";

const ADDRESS = "MLFLOW_TRACKING_URI";

/**
 * Where the tracking server is.
 * @throws {ConfigError} RECIPE_BAD_VALUE when neither the recipe nor MLFLOW_TRACKING_URI names a server.
 */
export function trackingAddress(url: string | undefined): string {
  const given = url ?? environmentValue(ADDRESS);
  if (given === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `reporters: mlflow.url is missing, and so is the environment variable ${ADDRESS}: expected the address of a tracking server. Start one with \`mlflow server\` and write { name: mlflow, url: http://127.0.0.1:5000 }.`,
    );
  }
  return parseOptions(serverAddress, given, url === undefined ? ADDRESS : "reporters: mlflow.url");
}

/** What the server is told of who asks, from the variables that MLflow's own client reads: user and password first, else a token. */
export function credentials(): Pick<Endpoint, "headers" | "keys"> {
  const user = environmentValue("MLFLOW_TRACKING_USERNAME");
  const password = environmentValue("MLFLOW_TRACKING_PASSWORD");
  if (user !== undefined && password !== undefined) {
    const encoded = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
    const keys = { MLFLOW_TRACKING_PASSWORD: password };
    return { headers: { authorization: `Basic ${encoded}` }, keys };
  }
  const token = environmentValue("MLFLOW_TRACKING_TOKEN");
  if (token === undefined) return {};
  return {
    headers: { authorization: `Bearer ${token}` },
    keys: { MLFLOW_TRACKING_TOKEN: token },
  };
}
