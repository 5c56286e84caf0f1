import { type AgentrlError, ConfigError, ExternalError } from "../base/errors.ts";
import type { Interruption } from "../http/transfer.ts";
import { type HubName, hubNameText } from "./hub-name.ts";
import type { HubSettings } from "./hub-settings.ts";

/**
 * What an answer that refuses a model means, and what to do: HUB_GATED, HUB_NOT_FOUND or HUB_DENIED. The hub names the reason in a
 * header; mirrors may not.
 */
export function refusal(
  { status, headers }: Response,
  name: HubName,
  settings: HubSettings,
): AgentrlError {
  const { endpoint, token } = settings;
  const { repository, revision } = name;
  const model = hubNameText(name);
  const reason = headers.get("x-error-code");
  const tokenState = token === null ? "no HF_TOKEN is set" : "HF_TOKEN is set";
  if (reason === "GatedRepo") {
    return new ConfigError(
      "HUB_GATED",
      `${model}: is gated (${tokenState}). Accept its terms at ${endpoint}/${repository}, and set HF_TOKEN to a token of the account that did.`,
    );
  }
  if (reason === "RevisionNotFound") {
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has ${repository}, but no revision "${revision}". Give a branch, tag or commit after @, or none.`,
    );
  }
  if (status === 404 || reason === "RepoNotFound") {
    return new ConfigError(
      "HUB_NOT_FOUND",
      `${model}: ${endpoint} has no such model, or it is private and ${token === null ? tokenState : "the account of HF_TOKEN may not see it"}. Check the spelling of organisation and name, or set HF_TOKEN to a token that can read it.`,
    );
  }
  return new ConfigError(
    "HUB_DENIED",
    `${model}: ${endpoint} refuses with status ${status} (${tokenState}). ${token === null ? "Set HF_TOKEN to a token that can read it; the hub answers so for names that it does not have, too." : "HF_TOKEN is wrong, has expired, or lacks the right to read this model."}`,
  );
}

/** What a hub that does not answer means: HUB_UNREACHABLE. `what` is the model or file. */
export function unreachable(
  { endpoint }: HubSettings,
  what: string,
): (last: Interruption, attempts: number) => ExternalError {
  return (last, attempts) =>
    new ExternalError(
      "HUB_UNREACHABLE",
      `${what}: ${endpoint} cannot be reached: ${last.message} (${attempts} ${attempts === 1 ? "attempt" : "attempts"}). What has come is kept: run again to go on, set HF_ENDPOINT to a mirror, or give a folder that holds the model.`,
      { cause: last.cause },
    );
}
