/** Calls of the methods about the node itself: its process, listeners, keys and files. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Recorder } from "./recorder.ts";
import { ALICE, BOB, TYPED_DATA, type World } from "./world.ts";

const PASSPHRASE = "correct horse";
/** Of no account that has money anywhere. */
const KEY = `0x${"12".repeat(32)}`;

export async function inspectProcess(r: Recorder, { block }: World) {
  for (const name of [
    "debug_memStats",
    "debug_gcStats",
    "debug_freeOSMemory",
    "debug_chaindbCompact",
    "debug_clearTxpool",
  ]) {
    await r.example(name);
  }
  await r.example("debug_chaindbProperty");
  await r.example("debug_discoveryV4Table");
  await r.example("debug_setGCPercent", 100);
  await r.example("debug_setMemoryLimit", -1);
  await r.example("debug_stacks", "running && !waiting");
  await r.example("debug_verbosity", 3);
  await r.example("debug_vmodule", "rpc/*=5");
  await r.call("debug_vmodule", "");
  await r.example("debug_backtraceAt", "server.ts:443");
  await r.call("debug_backtraceAt", "");
  await r.rejected("debug_getTrieFlushInterval");
  await r.rejected("debug_setTrieFlushInterval", "1h");

  // Each takes whole seconds, during which the others run.
  await Promise.all([
    r.example("debug_cpuProfile", "cpu.cpuprofile", 1),
    r.example("debug_goTrace", "trace.json", 1),
    r.example("debug_blockProfile", "stalls.pb.gz", 1),
    r.example("debug_mutexProfile", "waits.pb.gz", 1),
  ]);
  await r.example("debug_startCPUProfile", "cpu2.cpuprofile");
  await r.example("debug_stopCPUProfile");
  await r.example("debug_startGoTrace", "trace2.json");
  await r.example("debug_stopGoTrace");
  await r.example("debug_setBlockProfileRate", 1_000_000);
  await r.example("debug_writeBlockProfile", "stalls2.pb.gz");
  await r.call("debug_setBlockProfileRate", 0);
  await r.example("debug_setMutexProfileFraction", 1);
  await r.example("debug_writeMutexProfile", "waits2.pb.gz");
  await r.call("debug_setMutexProfileFraction", 0);

  const [trace] = await r.example("debug_standardTraceBlockToFile", block);
  r.standIn(trace.slice(trace.lastIndexOf("-")), "-2751049383");
  await r.rejected("debug_standardTraceBadBlockToFile", block);
  await r.example("admin_exportChain", "chain.rlp", 1, 2);
  await r.example("admin_importChain", "chain.rlp");
  await r.rejected("debug_traceBlockFromFile", "block.rlp");
  await r.example("admin_datadir");
  await r.example("admin_nodeInfo");
  await r.example("admin_readiness");
}

/** @param overWs calls while the HTTP listener is closed, which has another port afterwards */
export async function switchListeners(r: Recorder, overWs: Recorder["send"]) {
  const { send } = r;
  r.send = overWs;
  await r.example("admin_stopRPC");
  await r.example("admin_startRPC", "127.0.0.1", 0);
  await r.example("admin_stopHTTP");
  await r.example("admin_startHTTP", "127.0.0.1", 0);
  r.send = send;
}

/** Calls by HTTP: the connections of WebSocket end. */
export async function switchWebSocket(r: Recorder) {
  await r.example("admin_stopWS");
  await r.example("admin_startWS", "127.0.0.1", 0);
}

/** Keys that are encrypted: each derivation takes most of a second. */
export async function useKeys(r: Recorder, home: string) {
  const made = await r.example("personal_newAccount", PASSPHRASE);
  r.standIn(made, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
  r.standIn(made.toLowerCase(), "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf");
  const account = await r.example("personal_importRawKey", KEY, PASSPHRASE);
  await r.call("anvil_setBalance", account, "0xde0b6b3a7640000");
  await r.example("personal_unlockAccount", account, PASSPHRASE, 60);
  await r.example("personal_lockAccount", account);
  const payment = { from: account, to: BOB, value: "0x1" };
  await r.example("personal_sendTransaction", payment, PASSPHRASE);
  const fees = { gas: "0x5208", maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00", nonce: "0x1" };
  await r.example("personal_signTransaction", { ...payment, ...fees }, PASSPHRASE);
  await useWallet(r, home);
}

/** Names of the past: accounts of the node, its miner, its store of texts. */
export async function useNames(r: Recorder) {
  await r.example("personal_listAccounts");
  await r.example("personal_listWallets");
  const signature = await r.example("personal_sign", "0x68656c6c6f", ALICE);
  await r.example("personal_ecRecover", "0x68656c6c6f", signature);
  await r.example("personal_signTypedData", TYPED_DATA, ALICE);

  await r.example("miner_getHashrate");
  await r.rejected("miner_setExtra", "hello");
  await r.rejected("miner_start");
  await r.example("miner_stop");
  await r.example("miner_setGasLimit", "0x3938700");
  await r.example("miner_setGasPrice", "0x3b9aca00");
  await r.example("miner_setEtherbase", BOB);

  await r.example("db_putString", "notes", "greeting", "hello");
  await r.example("db_getString", "notes", "greeting");
  await r.example("db_putHex", "notes", "bytes", "0x1234");
  await r.example("db_getHex", "notes", "bytes");
}

/** An HD wallet; the secrets that the node made for it are in a file of the home. */
async function useWallet(r: Recorder, home: string) {
  const url = "hd://main";
  r.standIn(await r.example("personal_initializeWallet", url), `0x${"c3".repeat(32)}`);
  const { accounts } = (await r.call("personal_listWallets")).find((each: { url: string }) => each.url === url);
  r.standIn(accounts[0].address, "0x2b5ad5c4795c026514f8317c7a215e218dccd6cf");
  const derived = await r.example("personal_deriveAccount", url, "m/44'/60'/0'/0/1", true);
  r.standIn(derived.address, "0x6813eb9362372eef6200f3b1dbc3f819671cba69");
  const secrets = readFileSync(join(home, "hdwallets/main.secrets.txt"), "utf8");
  const secret = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(secrets)![1]!;
  const [pairing, pin] = [secret("pairing password"), secret("PIN")];
  r.standIn(pairing, "pairing-password");
  r.standIn(`"${pin}"`, '"482910"');
  await r.example("personal_unpair", url, pairing);
  // Answers with an error that asks for the PIN next, as geth's smart cards do.
  await r.send("personal_openWallet", [url, pairing]);
  await r.example("personal_openWallet", url, pin);
}

/** Ethereum's messages between programs. */
export async function whisper(r: Recorder) {
  await r.example("shh_version");
  const identity = await r.example("shh_newIdentity");
  r.standIn(identity, `0x04${"a1".repeat(64)}`);
  await r.example("shh_hasIdentity", identity);
  const topics = ["0x68656c6c6f20776f726c64"];
  const filter = await r.example("shh_newFilter", { topics });
  r.standIn(filter, "0x72e1374d5b06a1d5");
  await r.example("shh_post", { from: identity, topics, payload: "0x68656c6c6f", ttl: 60, priority: 10 });
  await r.example("shh_getFilterChanges", filter);
  await r.example("shh_getMessages", filter);
  await r.example("shh_uninstallFilter", filter);
  const group = await r.example("shh_newGroup", identity, []);
  r.standIn(group, `0x04${"b2".repeat(64)}`);
  await r.example("shh_addToGroup", group, identity);
}

/** Validators of a chain whose engine is in this process. */
export async function askValidator(r: Recorder, { block }: World) {
  await r.example("clique_getSnapshot", "latest");
  await r.example("clique_getSnapshotAtHash", block);
  await r.example("clique_getSigners", "latest");
  await r.example("clique_getSignersAtHash", block);
  await r.example("clique_getSigner", "latest");
}

/** What the engine of a network answers; on other chains these methods are rejected, or change nothing. */
export async function askNetwork(r: Recorder, follower: { readonly peer: string; readonly key: ValidatorKey }) {
  const { address, publicKey } = follower.key;
  await r.example("clique_getLightBlock", "0x1");
  await r.example("clique_propose", address, true, publicKey);
  await r.example("clique_proposals");
  await r.example("clique_discard", address);
  await r.example("clique_proposeParameter", "gasLimit", 60_000_000);
  await r.example("clique_discardParameter", "gasLimit");
  await r.example("clique_proposeFork", "bpo1", 1_900_000_000);
  await r.example("clique_parameters", "latest");
  await r.example("clique_status");
  await r.example("admin_peers");
  await r.example("admin_addPeer", follower.peer);
  await r.example("admin_addTrustedPeer", follower.peer);
  await r.example("admin_removeTrustedPeer", follower.peer);
  await r.example("admin_removePeer", follower.peer);
}

/** What a validator is voted in by: address and compressed public key. */
export type ValidatorKey = { readonly address: string; readonly publicKey: string };

/** Checkpoints and clients of a node with `les.serve`. */
export async function serveLightClients(r: Recorder) {
  await r.example("les_latestCheckpoint");
  await r.example("les_getCheckpoint", 0);
  await r.example("les_getCheckpointContractAddress");
  await r.example("les_getHeaderProof", 100, 0);
  await r.example("les_serverInfo");
  const info = await r.example("les_clientInfo", []);
  const [client = ""] = Object.keys(info);
  await r.example("les_addBalance", client, 1_000_000_000, "shop");
  await r.example("les_setClientParams", [client], { "pricing/timeFactor": 0.5 });
  await r.example("les_priorityClientInfo", "0".repeat(64), "0".repeat(64), 10);
  await r.example("les_setDefaultParams", { "pricing/timeFactor": 1 });
  await r.example("les_setConnectedBias", 1_000_000_000);
  await r.example("les_benchmark", [{ type: "header", amount: 10 }], 1, 5);
  await r.example("debug_freezeClient", client);
}

/** What takes seconds: the compiler (the npm package `solc`), and a copy of the heap. */
export async function takeTime(r: Recorder) {
  await r.example("debug_writeMemProfile", "heap.heapsnapshot");
  await r.example("eth_getCompilers");
  await r.example("eth_compileSolidity", "pragma solidity ^0.8.0; contract Empty {}");
  const sources = { "Empty.sol": { content: "contract Empty {}" } };
  await r.example("eth_compileStandardJson", { language: "Solidity", sources, settings: {} });
  await r.rejected("eth_compileLLL", "(returnlll (suicide (caller)))");
  await r.rejected("eth_compileSerpent", "def main(a): return(a * 2)");
}
