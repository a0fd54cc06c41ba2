import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressOfCompressedKey, compressPublicKey } from "../../../crypto/compressed-public-key.ts";
import { addressFromPublicKey, isPrivateKey, secp256k1 } from "../../../crypto/secp256k1.ts";
import { NodeError } from "../../../errors.ts";
import { type Address, addressToBytes } from "../../../primitives/address.ts";
import { concatBytes } from "../../../primitives/bytes.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { makeFolder } from "../../../storage/make-folder.ts";
import { replaceFile } from "../../../storage/replace-file.ts";
import { engineChainId } from "../../chain-start.ts";
import type { Signer } from "../../voting/snapshot.ts";
import type { StartingSet } from "../../voting/starting-set.ts";
import { ENGINE_RPC_SOCKET } from "./config.ts";

/** A file of the engine's home holds something else than the node needs. */
class EngineHomeError extends NodeError {
  readonly code = "ENGINE_HOME";
}

/** CometBFT's home as it is after `prepareEngineHome`. */
type EngineHome = {
  /** Peer identity of this node. */
  readonly nodeId: string;
  /** What its genesis says. */
  readonly initialHeight: number;
  readonly validators: readonly Signer[];
};

/**
 * Makes what is missing of CometBFT's home. Keys, genesis and signing state that are there are never touched: a validator that forgets
 * what it signed can sign against itself.
 * @param genesisFor `genesis.json` of a chain whose only validator has this compressed key; for a home that has none
 * @throws EngineHomeError for a genesis that cannot be read
 */
export function prepareEngineHome(directory: string, genesisFor: (publicKey: Uint8Array) => string): EngineHome {
  createEngineKeys(directory);
  const genesis = genesisPath(directory);
  if (!existsSync(genesis)) createOnce(genesis, genesisFor(validatorPublicKey(directory)), 0o644);
  return { nodeId: nodeIdOf(directory), ...readGenesis(genesis) };
}

/** Whether CometBFT has stored nothing yet: state sync is for such a home alone. */
export function isEngineStoreEmpty(directory: string): boolean {
  const store = join(directory, "data", "blockstore.db");
  if (!existsSync(store)) return true;
  return readdirSync(store).every((name) => !/\.(log|ldb|sst)$/.test(name) || statSync(join(store, name)).size === 0);
}

/** @throws EngineHomeError where the genesis in the home is that of another chain */
export function assertEngineGenesis(
  directory: string,
  chain: { readonly chainId: bigint; readonly genesisHash: Hash },
): void {
  const { chain_id, app_state } = readJson(genesisPath(directory)) as GenesisFile;
  const isOurs = chain_id === engineChainId(chain.chainId) && app_state?.evmGenesis === chain.genesisHash;
  if (!isOurs) {
    throw new EngineHomeError("the genesis of CometBFT is that of another chain", { directory });
  }
}

/** Path of CometBFT's own RPC, a unix socket. @throws SocketPathTooLongError */
export function engineRpcSocket(directory: string): string {
  const path = join(directory, ENGINE_RPC_SOCKET);
  assertSocketPath(path);
  return path;
}

/** Replaces CometBFT's configuration, before each start of it: its socket of a run that was killed would keep the next one from listening. */
export function writeEngineConfig(directory: string, configToml: string): void {
  chmodSync(directory, 0o700);
  rmSync(join(directory, ENGINE_RPC_SOCKET), { force: true });
  replaceFile(join(directory, "config", "config.toml"), configToml, 0o644);
}

/** The validators and first height of the genesis in the home. @throws EngineHomeError */
export function readStartingSet(directory: string): StartingSet {
  const { initialHeight, validators } = readGenesis(genesisPath(directory));
  return { initialHeight, signers: validators };
}

/** Keys and signing state where there are none. @param privateKey of the validator; random if not given */
export function createEngineKeys(directory: string, privateKey?: Uint8Array): void {
  for (const folder of ["config", "data"]) {
    makeFolder(join(directory, folder));
  }
  createOnce(nodeKeyPath(directory), json(nodeKeyFile(randomBytes(32))));
  createOnce(validatorKeyPath(directory), json(validatorKeyFile(privateKey ?? randomPrivateKey())));
  createOnce(join(directory, "data", "priv_validator_state.json"), json({ height: "0", round: 0, step: 0 }));
}

/** Peer identity of the node whose home this is: 40 hex digits. */
export function nodeIdOf(directory: string): string {
  const { priv_key } = readJson(nodeKeyPath(directory)) as { priv_key: { value: string } };
  return nodeId(Buffer.from(priv_key.value, "base64").subarray(0, 32));
}

/** Compressed public key of the validator whose home this is: 33 bytes. */
export function validatorPublicKey(directory: string): Uint8Array {
  const { pub_key } = readJson(validatorKeyPath(directory)) as { pub_key: { value: string } };
  return Buffer.from(pub_key.value, "base64");
}

function genesisPath(directory: string): string {
  return join(directory, "config", "genesis.json");
}

/** Private key of the validator whose home this is: 32 bytes. */
export function validatorPrivateKey(directory: string): Uint8Array {
  const { priv_key } = readJson(validatorKeyPath(directory)) as { priv_key: { value: string } };
  return Buffer.from(priv_key.value, "base64");
}

/** Stores CometBFT's genesis in a home that has none. */
export function createEngineGenesis(directory: string, text: string): void {
  writeFileSync(genesisPath(directory), text, { flag: "wx", mode: 0o644 });
}

function nodeKeyPath(directory: string): string {
  return join(directory, "config", "node_key.json");
}

function validatorKeyPath(directory: string): string {
  return join(directory, "config", "priv_validator_key.json");
}

type GenesisFile = {
  readonly chain_id?: string;
  readonly app_state?: { readonly evmGenesis?: unknown };
  readonly initial_height?: string;
  readonly validators?: readonly { readonly pub_key: { readonly value: string } }[];
};

function readGenesis(file: string): Pick<EngineHome, "initialHeight" | "validators"> {
  const { initial_height, validators } = readJson(file) as GenesisFile;
  const initialHeight = Number(initial_height ?? "1");
  if (!Number.isSafeInteger(initialHeight) || !Array.isArray(validators)) {
    throw new EngineHomeError(`${file} is no genesis file of CometBFT`, { file });
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

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new EngineHomeError(`${file} cannot be read as JSON`, { file }, { cause });
  }
}

function randomPrivateKey(): Uint8Array {
  for (;;) {
    const key = randomBytes(32);
    if (isPrivateKey(key)) return key;
  }
}

function createOnce(file: string, text: string, mode = 0o600): void {
  if (!existsSync(file)) writeFileSync(file, text, { mode, flag: "wx", flush: true });
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** DER head of an ed25519 private key (RFC 8410) before its 32 bytes of seed. */
const ED25519_PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
/** Bytes of an ed25519 public key's DER form before the key. */
const ED25519_SPKI_HEAD_BYTES = 12;

/** CometBFT's `priv_validator_key.json` of a validator whose address is its Ethereum address. */
function validatorKeyFile(privateKey: Uint8Array): object {
  const publicKey = compressedPublicKey(privateKey);
  return {
    address: Buffer.from(addressToBytes(validatorAddress(privateKey)))
      .toString("hex")
      .toUpperCase(),
    pub_key: { type: "tendermint/PubKeySecp256k1eth", value: base64(publicKey) },
    priv_key: { type: "tendermint/PrivKeySecp256k1eth", value: base64(privateKey) },
  };
}

function validatorAddress(privateKey: Uint8Array): Address {
  return addressFromPublicKey(secp256k1.publicKeyFromPrivate(privateKey));
}

/** 33 bytes. */
function compressedPublicKey(privateKey: Uint8Array): Uint8Array {
  return compressPublicKey(secp256k1.publicKeyFromPrivate(privateKey));
}

/** CometBFT's `node_key.json`: the ed25519 key of the peer-to-peer handshake. @param seed 32 bytes */
function nodeKeyFile(seed: Uint8Array): object {
  const value = base64(concatBytes(seed, nodePublicKey(seed)));
  return { priv_key: { type: "tendermint/PrivKeyEd25519", value } };
}

/** Peer identity: the first 20 bytes of SHA-256 of the public key, 40 hex digits. */
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

/** Longest path of a unix socket that Linux takes (sun_path less its terminator). */
const SOCKET_PATH_BYTES_MAX = 107;

/** The operating system takes no unix socket at this path. */
class SocketPathTooLongError extends NodeError {
  readonly code = "ABCI_SOCKET_PATH_TOO_LONG";
  constructor(path: string) {
    super(`the path of a unix socket has at most ${SOCKET_PATH_BYTES_MAX} bytes, choose a shorter home: ${path}`, {
      path,
    });
  }
}

/** @throws SocketPathTooLongError */
export function assertSocketPath(path: string): void {
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) throw new SocketPathTooLongError(path);
}
