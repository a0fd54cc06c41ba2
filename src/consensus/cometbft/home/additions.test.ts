import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "smol-toml";
import { parseEngineAdditions } from "./additions.ts";
import { engineConfigToml } from "./config.ts";

/** Every key of the configuration that `cometbft init` of v0.40.0 writes, with its table. */
const COMETBFT_KEYS =
  `version proxy_app moniker db_backend db_dir log_level log_format genesis_file priv_validator_key_file
priv_validator_state_file priv_validator_laddr node_key_file abci filter_peers event_bus_buffer_capacity rpc.laddr
rpc.cors_allowed_origins rpc.grpc_laddr rpc.unsafe rpc.max_open_connections rpc.pprof_laddr p2p.laddr p2p.external_address p2p.seeds
p2p.persistent_peers p2p.addr_book_file p2p.addr_book_strict p2p.max_num_inbound_peers p2p.max_num_outbound_peers
p2p.unconditional_peer_ids p2p.persistent_peers_max_dial_period p2p.flush_throttle_timeout p2p.max_packet_msg_payload_size p2p.send_rate
p2p.recv_rate p2p.pex p2p.seed_mode p2p.private_peer_ids p2p.allow_duplicate_ip p2p.handshake_timeout p2p.dial_timeout
p2p.libp2p.enabled p2p.libp2p.scaler.min_workers p2p.libp2p.limits.mode mempool.type mempool.recheck mempool.broadcast
mempool.keep-invalid-txs-in-cache mempool.max_tx_bytes mempool.reap_interval statesync.enable statesync.rpc_servers
statesync.trust_height statesync.trust_hash statesync.trust_period statesync.discovery_time statesync.temp_dir
statesync.chunk_request_timeout statesync.chunk_fetchers statesync.max_snapshot_chunks blocksync.version blocksync.adaptive_sync
consensus.wal_file consensus.timeout_propose consensus.timeout_propose_delta consensus.timeout_prevote consensus.timeout_prevote_delta
consensus.timeout_precommit consensus.timeout_precommit_delta consensus.timeout_commit consensus.double_sign_check_height
consensus.skip_timeout_commit consensus.create_empty_blocks consensus.create_empty_blocks_interval
consensus.peer_gossip_sleep_duration consensus.peer_query_maj23_sleep_duration consensus.block_time_tolerance
storage.discard_abci_responses tx_index.indexer tx_index.psql-conn instrumentation.prometheus
instrumentation.prometheus_listen_addr instrumentation.max_open_connections instrumentation.namespace`.split(/\s+/);

const CONFIG = {
  abciSocket: "/s",
  moniker: "m",
  p2pAddress: "0.0.0.0:1",
  externalAddress: "",
  isLocalNet: false,
  p2p: { isEnabled: false, seeds: ["s@h:1"], privateIds: ["aa", "bb"], inboundMax: 3 },
  metricsAddress: "127.0.0.1:26660",
  blockTimeMs: 1000,
  key: { kind: "file" } as const,
  peers: { persistent: [], trusted: [], rejected: [] },
};

/** Its tables have no prototype. */
function tablesOf(toml: string): Record<string, Record<string, unknown>> {
  return JSON.parse(JSON.stringify(parse(toml)));
}

/** TOML that sets one key, of a table or not. */
function setting(path: string, literal: string): string {
  const dot = path.lastIndexOf(".");
  return dot === -1 ? `${path} = ${literal}` : `[${path.slice(0, dot)}]\n${path.slice(dot + 1)} = ${literal}`;
}

function messageOf(text: string): string {
  try {
    parseEngineAdditions(text, "cometbft.toml");
    return "";
  } catch (error) {
    assert.equal((error as { code?: string }).code, "ENGINE_ADDITIONS");
    return (error as Error).message;
  }
}

test("every key of CometBFT's configuration is one that operators may add, or is refused with its reason", () => {
  const free: string[] = [];
  for (const key of COMETBFT_KEYS) {
    const messages = ['"x"', "1", "true", '"1s"'].map((literal) => messageOf(setting(key, literal)));
    if (messages.includes("")) free.push(key);
    else for (const message of messages) assert.doesNotMatch(message, /no such key/, key);
  }
  assert.deepEqual(free, [
    "event_bus_buffer_capacity",
    "p2p.addr_book_strict",
    "p2p.max_num_outbound_peers",
    "p2p.persistent_peers_max_dial_period",
    "p2p.flush_throttle_timeout",
    "p2p.send_rate",
    "p2p.recv_rate",
    "p2p.seed_mode",
    "p2p.allow_duplicate_ip",
    "p2p.handshake_timeout",
    "p2p.dial_timeout",
    "statesync.discovery_time",
    "statesync.temp_dir",
    "statesync.chunk_request_timeout",
    "statesync.max_snapshot_chunks",
    "consensus.peer_query_maj23_sleep_duration",
    "storage.discard_abci_responses",
    "tx_index.indexer",
    "tx_index.psql-conn",
    "instrumentation.max_open_connections",
    "instrumentation.namespace",
  ]);
});

test("parseEngineAdditions rejects unknown keys, values of another type, and invalid TOML", () => {
  const broken = [
    "p2p.seed_mod = true",
    "[p2p2]\nseed_mode = true",
    "p2p = 3",
    "[p2p]\nseed_mode = 1",
    '[p2p]\ndial_timeout = "3"',
    "[p2p]\nsend_rate = -1",
    "[p2p.seed_mode]\nx = true",
    "[[p2p]]\nseed_mode = true",
    "__proto__ = 1",
    "seed_mode =",
    "#".repeat(65_537),
  ];
  for (const text of broken) assert.notEqual(messageOf(text), "", text.slice(0, 40));
  assert.match(messageOf("[p2p]\npex = false"), /cometbft\.pex/);
  assert.match(messageOf('[rpc]\nladdr = "tcp://0.0.0.0:1"'), /authentication/);
  assert.equal(parseEngineAdditions("# nothing\n", "f").size, 0);
});

test("additions replace and extend the node's configuration, and keep the rest", () => {
  const text = '[p2p]\nseed_mode = true\nsend_rate = 7\n[instrumentation]\nnamespace = "cmt"\n';
  const before = tablesOf(engineConfigToml({ ...CONFIG, additions: new Map() }));
  const after = tablesOf(engineConfigToml({ ...CONFIG, additions: parseEngineAdditions(text, "f") }));
  assert.deepEqual(after, {
    ...before,
    p2p: { ...before["p2p"], seed_mode: true, send_rate: 7 },
    instrumentation: { ...before["instrumentation"], namespace: "cmt" },
  });
});

test("engineConfigToml has the settings of a validator behind sentries, and CometBFT's metrics", () => {
  const { p2p, instrumentation } = tablesOf(engineConfigToml({ ...CONFIG, additions: new Map() }));
  const { pex, seeds, private_peer_ids, max_num_inbound_peers } = p2p!;
  assert.deepEqual(
    { pex, seeds, private_peer_ids, max_num_inbound_peers },
    {
      pex: false,
      seeds: "s@h:1",
      private_peer_ids: "aa,bb",
      max_num_inbound_peers: 3,
    },
  );
  assert.deepEqual(instrumentation, { prometheus: true, prometheus_listen_addr: "127.0.0.1:26660" });
});
