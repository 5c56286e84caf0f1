import { hasChatTemplate, loadChatTemplate } from "../chat/load-chat-template.ts";
import { openPolicyEngine } from "../engine/open-engine.ts";
import type { DeviceName } from "../onnx/device-names.ts";
import { type TokenPolicy, enginePolicy } from "../rollout/policy.ts";
import { type MessageTemplate, plainTemplate } from "../rollout/served/message-keys.ts";
import { baseFolder, policyFolder, templateFolder } from "./assemble.ts";
import type { PolicyOptions } from "./bases.ts";

/** A model of this machine, opened to be asked by other programs. */
export interface ServedPolicy {
  policy: TokenPolicy;
  template: MessageTemplate;
  /** Opens adapters over the policy. */
  openAdapter: (folder: string) => Promise<{ policy: TokenPolicy; close: () => Promise<void> }>;
  close(): Promise<void>;
}

/**
 * @param from folder, model of the hub, or a policy of the package.
 * @throws as `policyFolder` and `openPolicyEngine`.
 */
export async function openServedPolicy(
  from: string,
  {
    device,
    workers,
    ...download
  }: PolicyOptions & { device?: DeviceName | "auto"; workers?: number },
): Promise<ServedPolicy> {
  const model = await policyFolder(from, download);
  const base = await baseFolder(model, download);
  const template = await messageTemplateOf(model);
  const own = { trains: false, device, workers };
  const opened = async (options: { model: string; base?: string }) => {
    const engine = await openPolicyEngine({ ...own, ...options });
    return { policy: enginePolicy(engine, engine.tokenizer), close: () => engine.close() };
  };
  const served = await opened({ model, base: base ?? undefined });
  return { ...served, template, openAdapter: (folder) => opened({ model: folder, base: model }) };
}

/** The folder's own chat template; a model without one reads the messages' texts one after another. */
async function messageTemplateOf(model: string): Promise<MessageTemplate> {
  const folder = await templateFolder(model);
  if (!(await hasChatTemplate(folder))) return plainTemplate;
  const plain = await loadChatTemplate(folder);
  const tools = await loadChatTemplate(folder, { tools: true });
  return {
    showsTools: true,
    render: (messages, options = {}) =>
      (options.tools === undefined ? plain : tools).render(messages, options),
  };
}
