import { parse, TomlError } from "smol-toml";
import { NodeError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";

/** The operator's additions to CometBFT's configuration contain a key that the node controls, an unknown key, or a value of another type. */
class EngineAdditionsError extends NodeError {
  readonly code = "ENGINE_ADDITIONS";
}

/** A duration is Go's: `300ms`, `1m0s`. */
type Kind = "text" | "number" | "boolean" | "duration";
type Value = string | number | boolean;

/** Values by the path of their key in CometBFT's configuration, such as `p2p.seed_mode`. */
export type EngineAdditions = ReadonlyMap<string, Value>;

/**
 * Keys of CometBFT's configuration that an operator may set: keys of v0.40 that do not follow from a setting of the node, need not be equal on
 * all nodes, and on which the node does not rely.
 */
const FREE_KEYS: Readonly<Record<string, Kind>> = {
  event_bus_buffer_capacity: "number",
  "p2p.persistent_peers_max_dial_period": "duration",
  "p2p.addr_book_strict": "boolean",
  "p2p.allow_duplicate_ip": "boolean",
  "p2p.max_num_outbound_peers": "number",
  "p2p.flush_throttle_timeout": "duration",
  "p2p.send_rate": "number",
  "p2p.recv_rate": "number",
  "p2p.seed_mode": "boolean",
  "p2p.handshake_timeout": "duration",
  "p2p.dial_timeout": "duration",
  "statesync.discovery_time": "duration",
  "statesync.temp_dir": "text",
  "statesync.chunk_request_timeout": "duration",
  "statesync.max_snapshot_chunks": "number",
  "consensus.peer_query_maj23_sleep_duration": "duration",
  "storage.discard_abci_responses": "boolean",
  "tx_index.indexer": "text",
  "tx_index.psql-conn": "text",
  "instrumentation.max_open_connections": "number",
  "instrumentation.namespace": "text",
};

/** Keys or whole tables that the node controls, and why. The first matching row counts. */
const OWNED_KEYS: readonly (readonly [path: string, reason: string])[] = [
  ["proxy_app", "the node listens there for CometBFT"],
  ["abci", "the node listens on a socket"],
  ["moniker", "set cometbft.moniker"],
  ["filter_peers", "the node decides about each peer"],
  ["log_format", "the node reads CometBFT's log"],
  ["log_level", "the node reads CometBFT's log"],
  ["db_backend", "the node reads CometBFT's store"],
  ["db_dir", "the node reads CometBFT's store"],
  ["genesis_file", "the files of CometBFT's home have fixed names"],
  ["node_key_file", "the files of CometBFT's home have fixed names"],
  ["priv_validator_key_file", "the files of CometBFT's home have fixed names"],
  ["priv_validator_state_file", "the files of CometBFT's home have fixed names"],
  ["priv_validator_laddr", "the signer is chosen by a setting of the node"],
  ["version", "CometBFT writes it"],
  ["rpc", "CometBFT's RPC has no authentication: it is a socket for the node"],
  ["p2p.laddr", "set cometbft.p2p-address"],
  ["p2p.external_address", "set cometbft.external-address"],
  ["p2p.seeds", "set cometbft.seeds"],
  ["p2p.persistent_peers", "set cometbft.persistent-peers"],
  ["p2p.unconditional_peer_ids", "set cometbft.trusted-peers"],
  ["p2p.private_peer_ids", "set cometbft.private-peers"],
  ["p2p.pex", "set cometbft.pex"],
  ["p2p.max_num_inbound_peers", "set cometbft.max-inbound-peers"],
  ["p2p.addr_book_file", "the files of CometBFT's home have fixed names"],
  ["p2p.max_packet_msg_payload_size", "it must be equal on all nodes"],
  ["p2p.libp2p", "all nodes of a network speak one protocol"],
  ["mempool", "the pool belongs to the node, and its limits must be equal on all nodes"],
  ["statesync.chunk_fetchers", "the node restores chunks one by one"],
  ["statesync", "set cometbft.state-sync-servers and cometbft.trust-block"],
  ["blocksync", "the node relies on its default"],
  ["consensus.double_sign_check_height", "set cometbft.double-sign-check-height"],
  ["consensus.wal_file", "the files of CometBFT's home have fixed names"],
  ["consensus", "it follows from consensus.block-time, equal on all nodes"],
  ["instrumentation.prometheus", "set cometbft.metrics-address"],
  ["instrumentation.prometheus_listen_addr", "set cometbft.metrics-address"],
];

/** Far larger than a file written by hand. */
const BYTES_MAX = 64 << 10;

/** A duration in Go's notation. */
const GO_DURATION = /^(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|ns))+$/;

/**
 * An operator's additions to CometBFT's configuration, from the text of a TOML file.
 * @param file for messages
 * @throws EngineAdditionsError
 */
export function parseEngineAdditions(text: string, file: string): EngineAdditions {
  if (Buffer.byteLength(text) > BYTES_MAX) {
    throw new EngineAdditionsError(`${file} has more than ${BYTES_MAX} bytes`, { file });
  }
  const additions = new Map<string, Value>();
  collect(parsed(text, file), "", file, additions);
  return additions;
}

/** A copy of `config` with the additions. */
export function withAdditions(config: EngineConfigTable, additions: EngineAdditions): EngineConfigTable {
  const merged: Record<string, Value | Record<string, Value>> = {};
  for (const [key, value] of Object.entries(config)) {
    merged[key] = typeof value === "object" ? { ...value } : value;
  }
  for (const [path, value] of additions) {
    const [table, key] = path.split(".") as [string, string | undefined];
    if (key === undefined) merged[table] = value;
    else merged[table] = { ...(merged[table] as Record<string, Value> | undefined), [key]: value };
  }
  return merged;
}

/** CometBFT's configuration: keys, and tables of keys. */
export type EngineConfigTable = Readonly<Record<string, Value | Readonly<Record<string, Value>>>>;

function parsed(text: string, file: string): object {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const { line, column } = cause;
    throw new EngineAdditionsError(`${file}:${line}:${column} is not TOML`, { file, line, column }, { cause });
  }
}

function collect(table: object, prefix: string, file: string, into: Map<string, Value>): void {
  for (const [key, value] of Object.entries(table) as [string, unknown][]) {
    const path = `${prefix}${key}`;
    const kind = Object.hasOwn(FREE_KEYS, path) ? FREE_KEYS[path] : undefined;
    const isTable = isJsonObject(value);
    if (kind === undefined && isTable && !isOwnedWhole(path)) {
      collect(value, `${path}.`, file, into);
      continue;
    }
    if (kind === undefined) throw new EngineAdditionsError(`${file}: ${path}: ${reasonOf(path)}`, { file, key: path });
    if (!isOfKind(value, kind)) {
      throw new EngineAdditionsError(`${file}: ${path} takes ${EXPECTS[kind]}`, { file, key: path });
    }
    into.set(path, value);
  }
}

/** Whether no key in that table may be set. */
function isOwnedWhole(path: string): boolean {
  const isOwned = OWNED_KEYS.some(([owned]) => owned === path);
  return isOwned && !Object.keys(FREE_KEYS).some((free) => free.startsWith(`${path}.`));
}

function reasonOf(path: string): string {
  const owned = OWNED_KEYS.find(([key]) => path === key || path.startsWith(`${key}.`));
  return owned?.[1] ?? "CometBFT v0.40 has no such key";
}

const EXPECTS: Readonly<Record<Kind, string>> = {
  text: "a text",
  number: "a whole number from 0",
  boolean: "true or false",
  duration: `a duration such as "300ms" or "1m0s"`,
};

function isOfKind(value: unknown, kind: Kind): value is Value {
  if (kind === "text") return typeof value === "string";
  if (kind === "boolean") return typeof value === "boolean";
  if (kind === "number") return Number.isSafeInteger(value) && (value as number) >= 0;
  return typeof value === "string" && GO_DURATION.test(value);
}
