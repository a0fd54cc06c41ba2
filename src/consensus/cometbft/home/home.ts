import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import { chmodSync, existsSync, lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey } from "../../../base/crypto/compressed-public-key.ts";
import { NodeError } from "../../../base/errors.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { concatBytes } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { createFile, replaceFile } from "../../../store/storage/replace-file.ts";
import { type AppState, engineChainId, forkDifference, genesisForks, genesisRules } from "../../chain-start.ts";
import type { Signer } from "../../voting/snapshot.ts";
import type { StartingSet } from "../../voting/starting-set.ts";
import { EngineHomeError, jsonText, readJsonFile } from "../json-file.ts";
import { createFollowerKey, createValidatorKey } from "../signing/key-files.ts";
import { createSigningState } from "../signing/signing-state.ts";
import { ENGINE_RPC_SOCKET } from "./config.ts";

/** The total power of all validators must stay below an eighth of 2^63. */
const VALIDATOR_POWER_DIGITS = /^[1-9]\d{0,5}$/;

/** Node and chain of a CometBFT home. */
type EngineHome = {
  /** Peer identity of this node. */
  readonly nodeId: string;
  /** From its genesis. */
  readonly initialHeight: number;
  readonly validators: readonly Signer[];
};

/**
 * Prepares CometBFT's home, which has its keys (`createEngineKeys`). Never changes an existing genesis.
 * @param genesisFor `genesis.json` of a chain with this node as its only validator, for a home without one
 * @throws EngineHomeError for an unreadable genesis
 */
export function prepareEngineHome(directory: string, genesisFor: () => string): EngineHome {
  const genesis = genesisPath(directory);
  if (!existsSync(genesis)) createFile(genesis, genesisFor(), 0o644);
  return { nodeId: nodeIdOf(directory), ...readGenesis(genesis) };
}

/** CometBFT's store of blocks, in its `data`. */
export const BLOCK_STORE = "blockstore.db";

/** Whether CometBFT's store is empty: only such a home can use state sync. */
export function isEngineStoreEmpty(directory: string): boolean {
  const store = join(directory, "data", BLOCK_STORE);
  if (!existsSync(store)) return true;
  return readdirSync(store).every((name) => !/\.(log|ldb|sst)$/.test(name) || statSync(join(store, name)).size === 0);
}

/** CometBFT's genesis in the home belongs to another chain. */
class EngineGenesisMismatchError extends NodeError {
  readonly code = "ENGINE_GENESIS_MISMATCH";
  constructor(what: string, details: { readonly file: string; readonly theirs: unknown; readonly ours: unknown }) {
    const { file, theirs, ours } = details;
    super(
      `${file} belongs to another chain: its ${what} is ${theirs}, that of config/genesis.json is ${ours}. Copy both files from one node of the network ("evmintd engine invite"), and remove data/ if its blocks belong to the wrong chain`,
      details,
    );
  }
}

/**
 * Otherwise the network would reject the node's first block, or the node the network's.
 * @throws EngineGenesisMismatchError if the genesis in the home belongs to another chain; EngineHomeError
 */
export function assertEngineGenesis(
  directory: string,
  chain: { readonly chainId: bigint; readonly genesisHash: Hash },
): void {
  const { chain_id, app_state } = readJsonFile(genesisPath(directory)) as GenesisFile;
  assertField(directory, "chain id", chain_id, engineChainId(chain.chainId));
  assertField(directory, "hash of block 0", app_state?.evmGenesis, chain.genesisHash);
}

/** For a chain without blocks; a chain with blocks has its rules in its fork schedule. @throws as assertEngineGenesis */
export function assertEngineRules(directory: string, config: ChainConfig): void {
  const file = genesisPath(directory);
  const { app_state, genesis_time, initial_height = "1" } = readJsonFile(file) as GenesisFile;
  assertField(directory, "list of rules", app_state?.rules, genesisRules(config));
  const head = { number: Number(initial_height) - 1, timestamp: Math.floor(Date.parse(String(genesis_time)) / 1_000) };
  const ours = genesisForks(config, head);
  const difference = forkDifference(app_state?.forks, ours);
  if (difference === undefined) return;
  throw new EngineGenesisMismatchError(`list of forks (${difference})`, { file, theirs: app_state?.forks, ours });
}

/** Whether every block of the network names the forks that execute it. @throws EngineHomeError */
export function namesForks(directory: string): boolean {
  return (readJsonFile(genesisPath(directory)) as GenesisFile).app_state?.forks !== undefined;
}

function assertField(directory: string, what: string, theirs: unknown, ours: unknown): void {
  if (theirs !== ours) throw new EngineGenesisMismatchError(what, { file: genesisPath(directory), theirs, ours });
}

export function hasEngineGenesis(directory: string): boolean {
  return existsSync(genesisPath(directory));
}

/** Path of CometBFT's own RPC, a unix socket. @throws SocketPathTooLongError */
export function engineRpcSocket(directory: string): string {
  const path = join(directory, ENGINE_RPC_SOCKET);
  assertSocketPath(path);
  return path;
}

/** Replaces CometBFT's configuration before each start, and removes the socket of a killed run, which would prevent listening. */
export function writeEngineConfig(directory: string, configToml: string): void {
  chmodSync(directory, 0o700);
  rmSync(join(directory, ENGINE_RPC_SOCKET), { force: true });
  replaceFile(join(directory, "config", "config.toml"), configToml, 0o644);
}

/** Removes a leftover socket at `unix://path`; keeps any other file. */
export function removeLeftSocket(address: string): void {
  const path = /^unix:\/\/(.*)$/.exec(address)?.[1];
  if (path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path);
}

/** The validators and initial height in the home's genesis. @throws EngineHomeError */
export function readStartingSet(directory: string): StartingSet {
  const { initialHeight, validators } = readGenesis(genesisPath(directory));
  return { initialHeight, signers: validators };
}

/** Voting power of newly voted-in validators, by the home's genesis. @throws EngineHomeError */
export function readValidatorPower(directory: string): number {
  const file = genesisPath(directory);
  const { validatorPower = "1" } = (readJsonFile(file) as GenesisFile).app_state ?? {};
  if (typeof validatorPower !== "string" || !VALIDATOR_POWER_DIGITS.test(validatorPower)) {
    throw new EngineHomeError(`${file}: app_state.validatorPower must be a decimal string from "1" to "999999"`, {
      file,
    });
  }
  return Number(validatorPower);
}

/** How to create missing keys of a home. */
type KeyOptions = {
  /** The validator's key is in a remote signer: do not create one. */
  readonly isRemote?: boolean;
  /** The validator's key, 32 bytes; random by default. */
  readonly privateKey?: Uint8Array;
};

/** Creates missing keys and signing state. */
export function createEngineKeys(directory: string, { isRemote = false, privateKey }: KeyOptions = {}): void {
  for (const folder of ["config", "data"]) {
    makeFolder(join(directory, folder));
  }
  createFile(nodeKeyPath(directory), jsonText(nodeKeyFile(randomBytes(32))), 0o600);
  createFollowerKey(directory);
  createSigningState(directory);
  if (!isRemote) createValidatorKey(directory, privateKey);
}

/** Peer id of the home's node: 40 hex digits. */
export function nodeIdOf(directory: string): string {
  const { priv_key } = readJsonFile(nodeKeyPath(directory)) as { priv_key: { value: string } };
  return nodeId(Buffer.from(priv_key.value, "base64").subarray(0, 32));
}

function genesisPath(directory: string): string {
  return join(directory, "config", "genesis.json");
}

/** Stores CometBFT's genesis in a home without one. */
export function createEngineGenesis(directory: string, text: string): void {
  createFile(genesisPath(directory), text, 0o644);
}

function nodeKeyPath(directory: string): string {
  return join(directory, "config", "node_key.json");
}

type GenesisFile = {
  readonly chain_id?: string;
  readonly app_state?: { readonly [Key in keyof AppState]?: unknown };
  readonly genesis_time?: unknown;
  readonly initial_height?: string;
  readonly validators?: readonly { readonly pub_key: { readonly value: string } }[];
};

function readGenesis(file: string): Pick<EngineHome, "initialHeight" | "validators"> {
  const { initial_height, validators } = readJsonFile(file) as GenesisFile;
  const initialHeight = Number(initial_height ?? "1");
  if (!Number.isSafeInteger(initialHeight) || !Array.isArray(validators)) {
    throw new EngineHomeError(`${file} is not a genesis file of CometBFT`, { file });
  }
  return { initialHeight, validators: validators.map(({ pub_key }) => signerOf(pub_key, file)) };
}

function signerOf({ value }: { readonly value: string }, file: string): Signer {
  const publicKey = Uint8Array.from(Buffer.from(value, "base64"));
  const address = addressOfCompressedKey(publicKey);
  if (address === undefined) {
    throw new EngineHomeError(`${file}: a validator without a secp256k1eth key`, { file });
  }
  return { address, publicKey };
}

/** DER prefix of an ed25519 private key (RFC 8410) before its 32-byte seed. */
const ED25519_PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
/** Length of the DER prefix of an ed25519 public key. */
const ED25519_SPKI_HEAD_BYTES = 12;

/** CometBFT's `node_key.json`: the ed25519 key of the peer-to-peer handshake. @param seed 32 bytes */
function nodeKeyFile(seed: Uint8Array): object {
  const value = base64(concatBytes(seed, nodePublicKey(seed)));
  return { priv_key: { type: "tendermint/PrivKeyEd25519", value } };
}

/** Peer id: the first 20 bytes of SHA-256 of the public key, 40 hex digits. */
function nodeId(seed: Uint8Array): string {
  return createHash("sha256").update(nodePublicKey(seed)).digest("hex").slice(0, 40);
}

function nodePublicKey(seed: Uint8Array): Uint8Array {
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8_HEAD, seed]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return spki.subarray(ED25519_SPKI_HEAD_BYTES);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Maximum path length of a unix socket on Linux (sun_path less its terminator). */
const SOCKET_PATH_BYTES_MAX = 107;

/** The path is too long for a unix socket. */
class SocketPathTooLongError extends NodeError {
  readonly code = "ABCI_SOCKET_PATH_TOO_LONG";
  constructor(path: string) {
    super(`unix socket paths are limited to ${SOCKET_PATH_BYTES_MAX} bytes, choose a shorter home: ${path}`, {
      path,
    });
  }
}

/** @throws SocketPathTooLongError */
export function assertSocketPath(path: string): void {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) throw new SocketPathTooLongError(path);
}
