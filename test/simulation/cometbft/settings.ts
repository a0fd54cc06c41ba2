import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { addressOfCompressedKey } from "../../../src/base/crypto/compressed-public-key.ts";
import type { Validator } from "./types/validator-set.ts";
import { digitsOf, parseTime } from "./types/vote.ts";

/** What the model reads of `config/config.toml`; durations are milliseconds. */
export type Settings = {
  readonly proxyApp: string;
  readonly moniker: string;
  readonly filterPeers: boolean;
  /** Relative to the home. */
  readonly keyFile: string;
  readonly signStateFile: string;
  readonly rpcAddress: string;
  readonly p2pAddress: string;
  readonly persistentPeers: readonly string[];
  readonly unconditionalPeers: ReadonlySet<string>;
  readonly mempool: {
    readonly broadcast: boolean;
    readonly txBytesMax: number;
    readonly batchBytesMax: number;
    readonly seenCacheSize: number;
    readonly reapIntervalMs: number;
    readonly reapBytesMax: number;
    readonly reapGasMax: number;
    readonly retryDelayMs: number;
  };
  readonly stateSync: {
    readonly enable: boolean;
    readonly rpcServers: readonly string[];
    readonly trustHeight: number;
    readonly trustHash: string;
    readonly trustPeriodMs: number;
    readonly discoveryMs: number;
    readonly chunkRequestTimeoutMs: number;
    readonly chunkFetchers: number;
  };
  readonly consensus: {
    readonly commitMs: number;
    readonly blockTimeToleranceMs: number;
    readonly propose: RoundTimeout;
    readonly prevote: RoundTimeout;
    readonly precommit: RoundTimeout;
  };
};

/** A timeout that grows with the round. */
type RoundTimeout = { readonly ms: number; readonly deltaMs: number };

type Table = Readonly<Record<string, unknown>>;

/** Settings of a home, with CometBFT's defaults for what the file leaves out. */
export function readSettings(home: string): Settings {
  const file = parse(readFileSync(join(home, "config", "config.toml"), "utf8")) as Table;
  const section = (name: string) => (file[name] ?? {}) as Table;
  const [rpc, p2p, mempool, sync, consensus] = ["rpc", "p2p", "mempool", "statesync", "consensus"].map(section) as [
    Table,
    Table,
    Table,
    Table,
    Table,
  ];
  const roundTimeout = (name: string, ms: number): RoundTimeout => ({
    ms: durationMs(consensus[`timeout_${name}`], ms),
    deltaMs: durationMs(consensus[`timeout_${name}_delta`], 500),
  });
  return {
    proxyApp: text(file["proxy_app"], "tcp://127.0.0.1:26658"),
    moniker: text(file["moniker"], "anonymous"),
    filterPeers: file["filter_peers"] === true,
    keyFile: text(file["priv_validator_key_file"], "config/priv_validator_key.json"),
    signStateFile: text(file["priv_validator_state_file"], "data/priv_validator_state.json"),
    rpcAddress: text(rpc["laddr"], "tcp://127.0.0.1:26657"),
    p2pAddress: text(p2p["laddr"], "tcp://0.0.0.0:26656").replace(/^tcp:\/\//, ""),
    persistentPeers: list(p2p["persistent_peers"]),
    unconditionalPeers: new Set(list(p2p["unconditional_peer_ids"])),
    mempool: {
      broadcast: mempool["broadcast"] !== false,
      txBytesMax: count(mempool["max_tx_bytes"], 1 << 20),
      batchBytesMax: count(mempool["max_batch_bytes"], 1 << 20),
      seenCacheSize: count(mempool["seen_cache_size"], 100_000),
      reapIntervalMs: durationMs(mempool["reap_interval"], 500),
      reapBytesMax: count(mempool["reap_max_bytes"], 0),
      reapGasMax: count(mempool["reap_max_gas"], 0),
      retryDelayMs: durationMs(mempool["check_tx_retry_delay"], 5_000),
    },
    stateSync: {
      enable: sync["enable"] === true,
      rpcServers: list(sync["rpc_servers"]),
      trustHeight: count(sync["trust_height"], 0),
      trustHash: text(sync["trust_hash"], "").toLowerCase(),
      trustPeriodMs: durationMs(sync["trust_period"], 168 * 3_600_000),
      discoveryMs: durationMs(sync["discovery_time"], 15_000),
      chunkRequestTimeoutMs: durationMs(sync["chunk_request_timeout"], 10_000),
      chunkFetchers: count(sync["chunk_fetchers"], 4),
    },
    consensus: {
      commitMs: durationMs(consensus["timeout_commit"], 1_000),
      blockTimeToleranceMs: durationMs(consensus["block_time_tolerance"], 60_000),
      propose: roundTimeout("propose", 3_000),
      prevote: roundTimeout("prevote", 1_000),
      precommit: roundTimeout("precommit", 1_000),
    },
  };
}

function text(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

function count(value: unknown, fallback: number): number {
  return value === undefined ? fallback : Number(value);
}

function list(value: unknown): readonly string[] {
  return text(value, "")
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
}

const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** A duration as Go writes it, such as `1m30s` or `50ms`. */
function durationMs(value: unknown, fallback: number): number {
  if (typeof value !== "string") return fallback;
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * UNITS_MS[unit!]!,
    0,
  );
}

export type ConsensusParams = {
  readonly maxBytes: number;
  readonly maxGas: number;
  readonly evidenceAgeBlocks: number;
  readonly evidenceAgeNanos: bigint;
  readonly evidenceBytesMax: number;
  readonly publicKeyTypes: readonly string[];
  readonly appVersion: number;
};

export type Genesis = {
  readonly time: bigint;
  readonly chainId: string;
  readonly initialHeight: number;
  readonly params: ConsensusParams;
  readonly validators: readonly Validator[];
  /** JSON, as the file has it. */
  readonly appState: Uint8Array;
};

type GenesisFile = {
  readonly genesis_time: string;
  readonly chain_id: string;
  readonly initial_height: string;
  readonly consensus_params: {
    readonly block: { readonly max_bytes: string; readonly max_gas: string };
    readonly evidence: {
      readonly max_age_num_blocks: string;
      readonly max_age_duration: string;
      readonly max_bytes: string;
    };
    readonly validator: { readonly pub_key_types: readonly string[] };
    readonly version?: { readonly app?: string };
  };
  readonly validators: readonly { readonly pub_key: { readonly value: string }; readonly power: string }[];
  readonly app_state: unknown;
};

export function readGenesis(home: string): Genesis {
  const file = readJson<GenesisFile>(join(home, "config", "genesis.json"));
  const { block, evidence, validator, version } = file.consensus_params;
  return {
    time: parseTime(file.genesis_time),
    chainId: file.chain_id,
    initialHeight: Number(file.initial_height),
    params: {
      maxBytes: Number(block.max_bytes),
      maxGas: Number(block.max_gas),
      evidenceAgeBlocks: Number(evidence.max_age_num_blocks),
      evidenceAgeNanos: BigInt(evidence.max_age_duration),
      evidenceBytesMax: Number(evidence.max_bytes),
      publicKeyTypes: validator.pub_key_types,
      appVersion: Number(version?.app ?? "0"),
    },
    validators: file.validators.map(({ pub_key, power }) =>
      validatorOf(Buffer.from(pub_key.value, "base64"), Number(power)),
    ),
    // The real program hands on the text of the file, and not what it means.
    appState: appStateText(readFileSync(join(home, "config", "genesis.json"), "utf8"), file.app_state),
  };
}

/** The characters of `app_state` in a genesis file, whose last member it is. */
function appStateText(genesis: string, value: unknown): Uint8Array {
  const start = genesis.indexOf(":", genesis.indexOf('"app_state"')) + 1;
  const tail = genesis.slice(start, genesis.lastIndexOf("}")).trim();
  return Buffer.from(tail === "" ? JSON.stringify(value) : tail);
}

/** @param publicKey 33 bytes */
export function validatorOf(publicKey: Uint8Array, power: number): Validator {
  const address = addressOfCompressedKey(publicKey);
  if (address === undefined) throw new Error("a validator without a secp256k1eth key");
  return { address: address.slice(2), publicKey: digitsOf(publicKey), power };
}

/** The keys in a home. */
export type Keys = {
  /** Identity among peers: 40 hexadecimal digits. */
  readonly nodeId: string;
  readonly validator: Validator;
  /** Of the validator, in hexadecimal digits. */
  readonly privateKey: string;
};

/** @param keyFile of the validator, relative to the home */
export function readKeys(home: string, keyFile: string): Keys {
  const node = readJson<{ priv_key: { value: string } }>(join(home, "config", "node_key.json"));
  const own = readJson<{ pub_key: { value: string }; priv_key: { value: string } }>(join(home, keyFile));
  return {
    nodeId: nodeIdOf(Buffer.from(node.priv_key.value, "base64").subarray(0, 32)),
    validator: validatorOf(Buffer.from(own.pub_key.value, "base64"), 0),
    privateKey: digitsOf(Buffer.from(own.priv_key.value, "base64")),
  };
}

/** DER head of an ed25519 private key (RFC 8410) before its 32 bytes of seed. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_KEY_BYTES = 32;

function nodeIdOf(seed: Uint8Array): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return createHash("sha256").update(spki.subarray(-PUBLIC_KEY_BYTES)).digest("hex").slice(0, 40);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}

/** The home is the working directory of the program, to which a socket's path can be relative. */
export function absoluteAddress(address: string, home: string): string {
  const path = /^unix:\/\/(.*)$/.exec(address)?.[1];
  return path === undefined || path.startsWith("/") ? address : `unix://${join(home, path)}`;
}
