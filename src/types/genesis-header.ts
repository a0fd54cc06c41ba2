import { INITIAL_BASE_FEE } from "../params/fees.ts";
import type { Genesis } from "../params/genesis.ts";
import { isBlockForkActive, isTimeForkActive } from "../params/hardforks.ts";
import { type Hash, ZERO_HASH } from "../primitives/hash.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "./constants.ts";
import type { Header } from "./header.ts";

/** What geth takes for a gas limit of 0. */
const DEFAULT_GAS_LIMIT = 4_712_388n;

/**
 * The header of block 0 over the state `genesis.alloc` gives. Which optional fields it has follows from the fork times
 * alone, as in geth: also a chain that starts before the merge has withdrawals in block 0 when Shanghai is at time 0.
 */
export function genesisHeader(genesis: Genesis, stateRoot: Hash): Header {
  const { config, timestamp } = genesis;
  const isLondon = isBlockForkActive(config, "londonBlock", 0);
  const since = (field: "shanghaiTime" | "cancunTime" | "pragueTime") =>
    isLondon && isTimeForkActive(config, field, timestamp);
  return {
    parentHash: genesis.parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: genesis.coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(BLOOM_LENGTH),
    difficulty: genesis.difficulty,
    number: 0,
    gasLimit: genesis.gasLimit === 0n ? DEFAULT_GAS_LIMIT : genesis.gasLimit,
    gasUsed: genesis.gasUsed,
    timestamp,
    extraData: genesis.extraData,
    mixHash: genesis.mixHash,
    nonce: genesis.nonce,
    ...(isLondon && { baseFeePerGas: genesis.baseFeePerGas ?? INITIAL_BASE_FEE }),
    ...(since("shanghaiTime") && { withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT }),
    ...(since("cancunTime") && {
      blobGasUsed: genesis.blobGasUsed ?? 0n,
      excessBlobGas: genesis.excessBlobGas ?? 0n,
      parentBeaconBlockRoot: ZERO_HASH,
    }),
    ...(since("pragueTime") && { requestsHash: EMPTY_REQUESTS_HASH }),
  };
}
