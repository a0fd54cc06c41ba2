import type { Logger } from "../../base/telemetry/logger.ts";
import type { MinerSettings } from "../../rpc/ports/miner.ts";
import { editAppToml } from "../config/app-toml.ts";
import type { Config } from "../config/config.ts";
import { SCHEMA } from "../config/schema.ts";
import type { ProductionParts } from "./parts.ts";

/** Writes callers' settings to `app.toml` and nowhere else: `config show --origin` names the file, and flags override it as usual. */
export function createMinerSettings(
  { home }: Pick<Config, "home">,
  { feeRecipient }: Pick<ProductionParts, "feeRecipient">,
  log: Logger,
): MinerSettings {
  return {
    setMinimumGasPrice({ wei }) {
      const { key } = SCHEMA.mempool.minimumGasPriceWei;
      editAppToml(home, key, wei);
      log.info("minimum gas price set, in force after a restart", { key, wei });
    },
    setEtherbase({ account }) {
      const { key } = SCHEMA.consensus.feeRecipient;
      editAppToml(home, key, account);
      feeRecipient.value = account;
      log.info("reward account set", { key, account });
    },
  };
}
