import { join } from "node:path";
import { expect, it } from "vitest";
import { requireRoom } from "../../../src/run/checks/require-room.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { checkSettings, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const smoke = async () =>
  checkSettings(
    settingsSchema,
    resolveSettings(await loadRecipe("search-r1"), { tier: "smoke", overrides: [] }),
  );

it("lets a run start that fits", async () => {
  await expect(requireRoom(await smoke(), join(temporaryFolder(), "run"))).resolves.toBeUndefined();
});

// The file system of /proc has no free block.
it.skipIf(process.platform !== "linux")(
  "refuses a disk without room for a checkpoint",
  async () => {
    await expect(requireRoom(await smoke(), "/proc/run")).rejects.toThrow(
      // 1 002 624 parameters of 12 bytes.
      errorWith("RUN_DISK_FULL", /\/proc\/run: .* 12\.0 MB, .* 0 B free.*policy\.lora\.rank/),
    );
  },
);
