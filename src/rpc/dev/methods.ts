import { anvilNodeInfo } from "./anvil-node-info.ts";
import { hardhatGetAutomine } from "./hardhat-get-automine.ts";
import { hardhatMetadata } from "./hardhat-metadata.ts";

/** Methods of dev chains only: elsewhere tools would mistake the chain for one whose state they may change. */
export const DEV_METHODS = [hardhatMetadata, hardhatGetAutomine, anvilNodeInfo];
