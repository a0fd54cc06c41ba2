import { stringify } from "smol-toml";
import type { Hash } from "../../../base/primitives/hash.ts";
import { APP_VERSION, appStateOf, engineChainId } from "../../chain-start.ts";
import type { PeerSettings } from "../../peer-lists.ts";
import { FOLLOWER_STATE_FILE, KEY_FILES } from "../signing/key-files.ts";
import { SIGNING_STATE_FILE } from "../signing/signing-state.ts";
import { type EngineAdditions, type EngineConfigTable, withAdditions } from "./additions.ts";

/** The parts of CometBFT's configuration that depend on the node. All others have CometBFT's default or the value below. */
type EngineConfig = {
  /** Path of the socket the application listens on. */
  readonly abciSocket: string;
  readonly moniker: string;
  /** `host:port` to listen on for peers. */
  readonly p2pAddress: string;
  /** `host:port` announced to peers; empty: the address they see. */
  readonly externalAddress: string;
  readonly peers: PeerSettings;
  readonly p2p: PeerExchange;
  /** Nodes share one machine or private network: repeated and unroutable addresses are accepted. */
  readonly isLocalNet: boolean;
  /** `host:port` where CometBFT serves its own metrics; empty: disabled. */
  readonly metricsAddress: string;
  readonly additions: EngineAdditions;
  readonly blockTimeMs: number;
  readonly key: EngineKey;
  /** Undefined: the node starts from block 1. */
  readonly stateSync?: {
    readonly rpcServers: readonly string[];
    readonly trustHeight: number;
    readonly trustHash: string;
  };
};

/** How a node finds peers besides its persistent ones, and the maximum it accepts. */
type PeerExchange = {
  /** Whether to exchange peer addresses with peers. */
  readonly isEnabled: boolean;
  /** Nodes that provide addresses of others, `id@host:port`. */
  readonly seeds: readonly string[];
  /** Ids whose addresses are not passed on. */
  readonly privateIds: readonly string[];
  readonly inboundMax: number;
};

/** Maximum age of the block that a light client trusts at the start of state sync: validators of older blocks have nothing left to lose. */
export const TRUST_HOURS = 168;

/** Maximum bytes of one gossiped transaction and of one batch; equal on all nodes, since a larger message costs its sender the connection. */
const GOSSIP_BYTES_MAX = 1 << 20;

/** Bytes per second to and from one peer: CometBFT's default of 5 MB delays blocks above 1 MB. */
const PEER_RATE_BYTES = 20 << 20;

/**
 * CometBFT's RPC socket, relative to its home, which is its working directory and private to this user. It has no authentication, so it has no
 * port.
 */
export const ENGINE_RPC_SOCKET = "rpc.sock";

/** CometBFT's signing key: none, the one in its home, or that of the signer that connects to `address`. */
export type EngineKey =
  | { readonly kind: "none" }
  | { readonly kind: "file" }
  /** tcp://host:port or unix://path, where CometBFT listens */
  | { readonly kind: "remote"; readonly address: string };

type Pace = {
  readonly timeout_commit: string;
  readonly timeout_propose: string;
  readonly timeout_propose_delta: string;
  readonly timeout_prevote: string;
  readonly timeout_precommit: string;
  readonly peer_gossip_sleep_duration: string;
};

/** CometBFT's `config.toml`. CometBFT silently ignores unknown keys, so each key comes from this table or is checked as an addition. */
export function engineConfigToml(config: EngineConfig): string {
  const table: EngineConfigTable = {
    proxy_app: `unix://${config.abciSocket}`,
    abci: "socket",
    moniker: config.moniker,
    ...keySettings(config.key),
    log_format: "json",
    log_level: "info",
    // Asks the application about each peer, since it knows the removed ones.
    filter_peers: true,
    rpc: {
      // Relative to its home: peers are told this address, and an absolute path may contain characters that are invalid in it.
      laddr: `unix://${ENGINE_RPC_SOCKET}`,
      // For `dial_peers`; only this user can open the socket.
      unsafe: true,
    },
    p2p: {
      laddr: `tcp://${config.p2pAddress}`,
      external_address: config.externalAddress,
      persistent_peers: config.peers.persistent.join(","),
      unconditional_peer_ids: config.peers.trusted.join(","),
      allow_duplicate_ip: config.isLocalNet,
      addr_book_strict: !config.isLocalNet,
      pex: config.p2p.isEnabled,
      seeds: config.p2p.seeds.join(","),
      private_peer_ids: config.p2p.privateIds.join(","),
      max_num_inbound_peers: config.p2p.inboundMax,
      send_rate: PEER_RATE_BYTES,
      recv_rate: PEER_RATE_BYTES,
    },
    mempool: {
      type: "app",
      broadcast: true,
      max_tx_bytes: GOSSIP_BYTES_MAX,
      max_batch_bytes: GOSSIP_BYTES_MAX,
      seen_cache_size: 100_000,
      reap_interval: "50ms",
      reap_max_bytes: GOSSIP_BYTES_MAX,
      reap_max_gas: 0,
      check_tx_retry_delay: "5s",
    },
    statesync: config.stateSync
      ? {
          enable: true,
          rpc_servers: config.stateSync.rpcServers.join(","),
          trust_height: config.stateSync.trustHeight,
          trust_hash: config.stateSync.trustHash,
          trust_period: `${TRUST_HOURS}h0m0s`,
        }
      : { enable: false },
    blocksync: { adaptive_sync: false },
    consensus: {
      create_empty_blocks: true,
      // The node checks this itself (`signing/key-guard.ts`). Its check also ends if the network waits for this validator.
      double_sign_check_height: 0,
      ...paceOf(config.blockTimeMs),
    },
    tx_index: { indexer: "null" },
    storage: { discard_abci_responses: true },
    instrumentation: { prometheus: config.metricsAddress !== "", prometheus_listen_addr: config.metricsAddress },
  };
  return stringify(withAdditions(table, config.additions));
}

/** Without a signing key, and with a remote signer, CometBFT uses the follower's: it creates a key if the file is missing. */
function keySettings(key: EngineKey) {
  const isFile = key.kind === "file";
  return {
    priv_validator_key_file: isFile ? KEY_FILES.validator : KEY_FILES.follower,
    priv_validator_state_file: isFile ? SIGNING_STATE_FILE : FOLLOWER_STATE_FILE,
    priv_validator_laddr: key.kind === "remote" ? key.address : "",
  };
}

/** Consensus timeouts for a block time. Each node has its own setting, so all nodes of a chain should have the same. */
function paceOf(blockTimeMs: number): Pace {
  const isFast = isFastPace(blockTimeMs);
  return {
    timeout_commit: `${commitTimeoutMs(blockTimeMs)}ms`,
    timeout_propose: `${proposeTimeoutMs(blockTimeMs, 0)}ms`,
    timeout_propose_delta: `${proposeTimeoutMs(blockTimeMs, 1) - proposeTimeoutMs(blockTimeMs, 0)}ms`,
    timeout_prevote: isFast ? "300ms" : blockTimeMs < 1000 ? "500ms" : "1s",
    timeout_precommit: isFast ? "300ms" : blockTimeMs < 1000 ? "500ms" : "1s",
    peer_gossip_sleep_duration: isFast ? "10ms" : "100ms",
  };
}

/** How long validators wait for the proposal of a round. Slower machines use later rounds. */
export function proposeTimeoutMs(blockTimeMs: number, round: number): number {
  return blockTimeMs < 1000 ? 1_000 + 200 * round : 2_000 + 1_000 * round;
}

/** CometBFT waits this long after each block: the minimum block interval. */
export function commitTimeoutMs(blockTimeMs: number): number {
  // Voting takes about 100 to 300 ms of each block; the commit timeout is the rest.
  return Math.round(
    isFastPace(blockTimeMs) ? Math.max(10, blockTimeMs - 50) : blockTimeMs - Math.min(300, blockTimeMs / 10),
  );
}

function isFastPace(blockTimeMs: number): boolean {
  return blockTimeMs < 300;
}

/**
 * Voting power of a validator. CometBFT does not block-sync for a validator without which no two-thirds majority remains, and computes that with
 * a third of the power in integers: with a power of 1, each of up to five validators counted as such and had to catch up block by block.
 */
const VALIDATOR_POWER = 10;

/** The chain's data for CometBFT's genesis. */
type EngineGenesis = {
  readonly chainId: bigint;
  /** Unix seconds; the first block has exactly this time. */
  readonly genesisTime: number;
  /** First height that CometBFT decides: 1, or the block after those of a solo chain. */
  readonly initialHeight: number;
  readonly validators: readonly {
    /** 33 bytes, compressed */
    readonly publicKey: Uint8Array;
    readonly name: string;
  }[];
  /** Power of each initial or later validator; default: `VALIDATOR_POWER`. */
  readonly power?: number;
  /** Hash of block 0. */
  readonly genesisHash: Hash;
  /** `genesisRules` of the EVM genesis. */
  readonly rules?: string | undefined;
  /** `genesisForks` of the EVM genesis. */
  readonly forks?: string;
};

/** EIP-7934 limits a block to 10 MiB; CometBFT adds its own parts and evidence. */
const BLOCK_BYTES_MAX = 8 << 20;
/** Consensus parameters require a value; the EVM's rules bound gas, and CometBFT does not enforce it with `mempool.type = "app"`. */
const NO_GAS_LIMIT = -1;
/** Two days for the slowest operator to act. */
export const EVIDENCE_AGE_SECONDS = 172_800;
const EVIDENCE_AGE_NANOS = BigInt(EVIDENCE_AGE_SECONDS) * 1_000_000_000n;
export const EVIDENCE_AGE_BLOCKS = 100_000;
export const EVIDENCE_BYTES_MAX = 65_536;

/**
 * CometBFT's `genesis.json`; equal inputs give equal text, since all nodes of a chain need the same bytes. 64-bit integers are strings, as in
 * Go's amino JSON.
 */
export function engineGenesisJson(genesis: EngineGenesis): string {
  const { power = VALIDATOR_POWER } = genesis;
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
    validators: genesis.validators.map(({ publicKey, name }) => ({
      address: "",
      pub_key: {
        type: "tendermint/PubKeySecp256k1eth",
        value: Buffer.from(publicKey).toString("base64"),
      },
      power: String(power),
      name,
    })),
    app_hash: "",
    app_state: appStateOf({ ...genesis, validatorPower: power }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}
