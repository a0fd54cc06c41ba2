import type { Hash } from "../../primitives/hash.ts";
import { APP_VERSION, appStateOf, engineChainId } from "../chain-start.ts";

/** What CometBFT's genesis says of a chain. */
export type EngineGenesis = {
  readonly chainId: bigint;
  /** Unix seconds; the first block has exactly this time. */
  readonly genesisTime: number;
  /** Height of the first block that CometBFT decides: 1, or the block after those of a solo chain. */
  readonly initialHeight: number;
  readonly validators: readonly {
    /** 33 bytes, compressed */
    readonly publicKey: Uint8Array;
    readonly power: number;
    readonly name: string;
  }[];
  /** Hash of block 0. */
  readonly genesisHash: Hash;
};

/** EIP-7934 bounds a block to 10 MiB; CometBFT's own parts and room for evidence come on top of what it carries. */
const BLOCK_BYTES_MAX = 8 << 20;
/** Consensus parameters carry it; the EVM's rules bound gas, CometBFT enforces nothing with `mempool.type = "app"`. */
const NO_GAS_LIMIT = -1;
/** Two days: as long as the slowest operator needs to act on it. */
const EVIDENCE_AGE_NANOS = 172_800n * 1_000_000_000n;
export const EVIDENCE_AGE_BLOCKS = 100_000;
const EVIDENCE_BYTES_MAX = 65_536;

/**
 * CometBFT's `genesis.json`, the same text for the same input: every node of a chain needs the same bytes. 64-bit integers are
 * strings, as Go's amino JSON has them.
 */
export function engineGenesisJson(genesis: EngineGenesis): string {
  const file = {
    genesis_time: new Date(genesis.genesisTime * 1000).toISOString().replace(/\.\d+Z$/, ".000000Z"),
    chain_id: engineChainId(genesis.chainId),
    initial_height: String(genesis.initialHeight),
    consensus_params: {
      block: { max_bytes: String(BLOCK_BYTES_MAX), max_gas: String(NO_GAS_LIMIT) },
      evidence: {
        max_age_num_blocks: String(EVIDENCE_AGE_BLOCKS),
        max_age_duration: String(EVIDENCE_AGE_NANOS),
        max_bytes: String(EVIDENCE_BYTES_MAX),
      },
      validator: { pub_key_types: ["secp256k1eth"] },
      version: { app: String(APP_VERSION) },
      abci: { vote_extensions_enable_height: "0" },
      authority: { authority: "" },
    },
    validators: genesis.validators.map(({ publicKey, power, name }) => ({
      address: "",
      pub_key: {
        type: "tendermint/PubKeySecp256k1eth",
        value: Buffer.from(publicKey).toString("base64"),
      },
      power: String(power),
      name,
    })),
    app_hash: "",
    app_state: appStateOf(genesis.genesisHash),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
