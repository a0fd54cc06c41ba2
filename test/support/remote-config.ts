import { parseGenesis } from "../../src/base/params/genesis.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { forkConfigs } from "../../src/chain/fork-config.ts";
import { genesisBlock } from "../../src/chain/genesis-block.ts";
import type { ShownHardfork } from "../../src/dev/fork/remote-rules.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { REMOTE_CHAIN_ID } from "./remote-chain.ts";

/** What `eth_config` answers on a chain of `hardfork`. */
export function configJson(hardfork: ShownHardfork) {
  const genesis = parseGenesis(
    renderGenesis({ chainId: BigInt(REMOTE_CHAIN_ID), timestamp: 0, alloc: new Map(), hardfork }),
  );
  const { block } = genesisBlock(genesis);
  const { activationTime, chainId, forkId, precompiles, systemContracts } = forkConfigs(genesis.config, block, 1)
    .current!;
  return {
    current: {
      activationTime,
      blobSchedule: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
      chainId: toQuantity(chainId),
      forkId,
      precompiles: Object.fromEntries(precompiles),
      systemContracts: Object.fromEntries(systemContracts),
    },
    next: null,
    last: null,
  };
}
