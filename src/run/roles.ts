import { RolloutError } from "../base/errors.ts";
import { milliseconds } from "../base/waits/deadlines.ts";
import { loadChatTemplate } from "../chat/load-chat-template.ts";
import type { RolloutEngine } from "../engine/engine.ts";
import { openPolicyEngine } from "../engine/open-engine.ts";
import { type Rendering, chatRendering } from "../rollout/chat-rendering.ts";
import type { ChatOptions, ModelSettings } from "../rollout/model-settings.ts";
import {
  type OpenedRole,
  type OpenedRoles,
  encoderRole,
  endpointRole,
  engineRole,
  lazyRoles,
} from "../rollout/roles.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Role } from "../trajectory/role.ts";
import { baseFolder, policyFolder } from "./assemble.ts";
import type { PolicyOptions } from "./bases.ts";
import type { Settings } from "./settings/settings-schema.ts";
import { snapshotRole } from "./snapshots.ts";

/** What the roles of a run share with it. */
export interface RoleOptions {
  /**
   * Holds the policy and its snapshots, and the folder that it was read from. It may be set after `openRoles`; until then a request to
   * either fails.
   */
  policy?: { engine: RolloutEngine; model: string };
  /** Tells of a model's download. */
  download?: PolicyOptions;
}

/** The recipe's models by name, and `policy`. Each is opened when it is first asked; the caller closes them. */
export function openRoles(settings: Settings, options: RoleOptions = {}): OpenedRoles {
  const models = Object.entries(settings.models ?? {});
  return lazyRoles({
    policy: () => policyRole("policy", settings, options),
    ...Object.fromEntries(
      models.map(([name, model]) => [name, () => openRole(name, model, { settings, ...options })]),
    ),
  });
}

async function openRole(
  name: string,
  model: ModelSettings,
  options: RoleOptions & { settings: Settings },
): Promise<OpenedRole> {
  if ("every" in model) return policyRole(name, options.settings, options, snapshotRole(name));
  if ("endpoint" in model) {
    return { role: endpointRole(name, model.endpoint), close: () => Promise.resolve() };
  }
  if ("encoder" in model) {
    const { openEncoder } = await import("../retrieval/dense/encoder.ts");
    const encoder = await openEncoder(model.encoder);
    return { role: encoderRole(name, encoder), close: () => encoder.close() };
  }
  const { settings, download } = options;
  const folder = await policyFolder(model.from, download);
  const base = await baseFolder(folder, download);
  const { workers, device, slots, microBatchTokens } = settings.engine;
  const { frozenWeights, samplingWeights } = settings.engine;
  const engine = await openPolicyEngine({
    model: folder,
    device,
    slots,
    microBatchTokens,
    trains: false,
    frozenWeights,
    samplingWeights,
    recompute: false,
    stallMs: milliseconds(settings.deadlines.engineSeconds),
    base: base ?? undefined,
    workers,
  });
  try {
    const { tokenizer } = engine;
    const rendering = await renderingOf(tokenizer, base ?? folder, model.chat);
    const role = engineRole(name, { engine, tokenizer, rendering });
    return { role, close: () => engine.close() };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** The policy now, or as it was kept; the run closes its engine itself. */
async function policyRole(
  name: string,
  { policy: { chat, endpoint } }: Settings,
  { policy, download }: RoleOptions,
  kept?: string,
): Promise<OpenedRole> {
  const close = () => Promise.resolve();
  if (policy === undefined) {
    const isServer = endpoint !== undefined && kept === undefined;
    return { role: isServer ? endpointRole(name, endpoint) : absentPolicy(name), close };
  }
  const { engine, model } = policy;
  const { tokenizer } = engine;
  const folder = (await baseFolder(model, download)) ?? model;
  const rendering = await renderingOf(tokenizer, folder, chat);
  const held = { engine, tokenizer, rendering, kept };
  return { role: engineRole(name, held), close };
}

/** How prompts are written for a model; undefined: as they are. */
async function renderingOf(
  tokenizer: Tokenizer,
  folder: string,
  chat: ChatOptions | undefined,
): Promise<Rendering | undefined> {
  if (chat === undefined) return undefined;
  return chatRendering(await loadChatTemplate(folder), tokenizer, chat);
}

/** Stands for the policy where none is open: in a check of rewards. */
function absentPolicy(name: string): Role {
  const fail = () =>
    Promise.reject(new RolloutError("ENGINE_NO_ROLE", `the model "${name}" is not open here.`));
  return { name, complete: fail, logprobs: fail };
}
