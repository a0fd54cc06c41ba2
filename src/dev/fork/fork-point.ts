import { dirname } from "node:path";
import type { GenesisAccount } from "../../base/params/genesis-account.ts";
import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { type Hash, parseHash } from "../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import type { Header } from "../../base/types/header.ts";
import { decodeHeader, encodeHeader, headerHash } from "../../base/types/header-codec.ts";
import { ifPresent } from "../../store/storage/if-present.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import { readJsonFile } from "../../store/storage/read-file.ts";
import { replaceFile } from "../../store/storage/replace-file.ts";
import { ForkFileError, ForkRemoteError } from "./errors.ts";
import type { RemoteCall, RemoteCalls } from "./remote-calls.ts";
import { assertContinuable, remoteHeaderOf } from "./remote-header.ts";
import { bigintOf, bytesOf } from "./remote-json.ts";
import { type RemoteRules, storedRules } from "./remote-rules.ts";

/** The block of a remote chain that a dev chain continues, and the accounts that it has from there on. */
export type ForkPoint = {
  readonly chainId: bigint;
  readonly header: Header;
  /** What the remote chain calls the block: another hash than that of its fields where its headers are not Ethereum's. */
  readonly hash: Hash;
  readonly alloc: ReadonlyMap<Address, GenesisAccount>;
  /** As the remote node names them, except those that the header shows. */
  readonly rules?: RemoteRules | undefined;
};

/** Accounts that the dev chain needs. */
export type ForkAccounts = {
  /** They get this balance in wei; nonce and code stay the remote chain's. */
  readonly funded: ReadonlyMap<Address, bigint>;
  /** Contracts that blocks after `block` need; they are created where the remote chain has no code. */
  contractsAfter(block: ForkBlock): ReadonlyMap<Address, Uint8Array>;
};

/** The block to continue, before anything of its state is read. */
export type ForkBlock = Pick<ForkPoint, "chainId" | "header" | "hash" | "rules">;

/**
 * Reads the block to continue from the remote chain.
 * @param blockNumber undefined: the newest block; a negative one counts back from it
 * @param givenChainId if given, the remote chain's id is not requested
 * @returns the block with the hash of its fields, and the members that this program does not know
 * @throws ForkRemoteError, ForkHeaderError: nothing may be stored of such a block
 */
export async function readForkBlock(
  call: RemoteCalls,
  blockNumber: number | undefined,
  givenChainId?: bigint,
): Promise<ForkBlock & { readonly fieldsHash: Hash; readonly unknownMembers: readonly string[] }> {
  const block = await blockOf(call, blockNumber);
  const [json, chainId = givenChainId] = await call([
    { method: "eth_getBlockByNumber", params: [block, false] },
    ...(givenChainId === undefined ? [{ method: "eth_chainId", params: [] }] : []),
  ]);
  if (json === null) throw await noBlock(call, block);
  const { header, hash: fieldsHash, claimedHash: hash, unknownMembers } = remoteHeaderOf(json);
  assertContinuable(header);
  const id = typeof chainId === "bigint" ? chainId : bigintOf(chainId);
  return { chainId: id, header, hash, fieldsHash, unknownMembers };
}

/** Says how far the remote chain is: a number is often that of another chain, or ahead of it. */
async function noBlock(call: RemoteCalls, block: string): Promise<ForkRemoteError> {
  if (block === "latest") return new ForkRemoteError("the remote chain has no block");
  const [newest] = await call([{ method: "eth_blockNumber", params: [] }]);
  return new ForkRemoteError(`the remote chain has no block ${Number(block)}: its newest is ${bigintOf(newest)}`);
}

async function blockOf(call: RemoteCalls, number: number | undefined): Promise<string> {
  if (number === undefined) return "latest";
  if (number >= 0) return toQuantity(number);
  const [newest] = await call([{ method: "eth_blockNumber", params: [] }]);
  const block = Number(bigintOf(newest)) + number;
  if (block < 0) throw new ForkRemoteError(`the remote chain has no ${-number} blocks before its newest`);
  return toQuantity(block);
}

/**
 * Reads the accounts that the dev chain changes from the remote chain.
 * @param call reads the state after `header`
 * @throws ForkRemoteError, ForkProofError
 */
export async function readForkPoint(
  call: RemoteCalls,
  block: ForkBlock,
  { funded, contractsAfter }: ForkAccounts,
): Promise<ForkPoint> {
  const { chainId, header, hash, rules } = block;
  const contracts = contractsAfter(block);
  const at = toQuantity(header.number);
  const calls = [...funded.keys()].map(
    (address): RemoteCall => ({ method: "eth_getTransactionCount", params: [address, at] }),
  );
  const addresses = [...funded.keys(), ...contracts.keys()];
  const codes = addresses.map((address): RemoteCall => ({ method: "eth_getCode", params: [address, at] }));
  const results = await call([...calls, ...codes]);
  const nonces = results.slice(0, calls.length);
  const codeOf = new Map(addresses.map((address, index) => [address, bytesOf(results[calls.length + index])]));
  const alloc = new Map<Address, GenesisAccount>();
  for (const [index, [address, balance]] of [...funded].entries()) {
    const code = codeOf.get(address)!;
    alloc.set(address, { balance, nonce: bigintOf(nonces[index]), code });
  }
  for (const [address, code] of contracts) {
    if (codeOf.get(address)!.length === 0) alloc.set(address, { balance: 0n, nonce: 1n, code });
  }
  return { chainId, header, hash, alloc, rules };
}

/** What a dev chain continues; null: nothing, it has its own genesis. */
export type ForkChoice = {
  readonly point: ForkPoint;
  /** Nodes of the remote chain. Stored if `hardhat_reset` gave them; otherwise the settings have them. */
  readonly urls?: readonly string[];
  /** Chain id of the dev chain where it is not that of the remote one. */
  readonly ownChainId?: bigint;
  /** Every read of its state must be proven under the state root of the point. */
  readonly isVerified: boolean;
} | null;

type ForkFile = {
  readonly chainId: string;
  readonly ownChainId?: string;
  readonly header: string;
  /** Left out: that of the header. */
  readonly hash?: string;
  readonly rules?: RemoteRules;
  readonly alloc: Readonly<Record<string, { readonly balance: string; readonly nonce: string; readonly code: string }>>;
  readonly urls?: readonly string[];
  /** Left out: false. */
  readonly verified?: boolean;
} | null;

/** The choice of a home; undefined: none was stored. @throws ForkFileError, ForkHeaderError */
export function loadForkChoice(path: string): ForkChoice | undefined {
  let choice: ForkChoice;
  try {
    const file = ifPresent(() => readJsonFile(path, { bytesMax: FORK_FILE_BYTES_MAX }));
    if (file === undefined) return undefined;
    choice = choiceOf(file as ForkFile);
  } catch (cause) {
    throw new ForkFileError(`${path} names no block to continue: ${REMEDY}`, { path }, { cause });
  }
  if (choice !== null) assertContinuable(choice.point.header);
  return choice;
}

/** Headers and the accounts that a dev chain is given. */
const FORK_FILE_BYTES_MAX = 64 << 20;
const REMEDY = "choose another --home, or remove this one";

function choiceOf(file: ForkFile): ForkChoice {
  if (file === null) return null;
  const { chainId, ownChainId, hash, alloc, rules, urls, verified = false } = file;
  const header = decodeHeader(hexToBytes(file.header));
  const point: ForkPoint = {
    chainId: BigInt(chainId),
    header,
    hash: hash === undefined ? headerHash(header) : parseHash(hash),
    ...(rules !== undefined && { rules: storedRules(rules) }),
    alloc: new Map(
      Object.entries(alloc).map(([address, { balance, nonce, code }]) => [
        parseAddress(address),
        { balance: BigInt(balance), nonce: BigInt(nonce), code: hexToBytes(code) },
      ]),
    ),
  };
  return {
    point,
    isVerified: verified,
    ...(ownChainId !== undefined && { ownChainId: BigInt(ownChainId) }),
    ...(urls && { urls }),
  };
}

export function storeForkChoice(path: string, choice: ForkChoice): void {
  makeFolder(dirname(path));
  replaceFile(path, `${JSON.stringify(fileOf(choice), undefined, 2)}\n`, 0o600);
}

function fileOf(choice: ForkChoice): ForkFile {
  if (choice === null) return null;
  const { point, ownChainId, urls, isVerified } = choice;
  const { chainId, header, hash, alloc, rules } = point;
  return {
    chainId: toQuantity(chainId),
    ...(ownChainId !== undefined && { ownChainId: toQuantity(ownChainId) }),
    header: bytesToHex(encodeHeader(header)),
    hash,
    ...(rules && { rules }),
    alloc: Object.fromEntries(
      [...alloc].map(([address, { balance, nonce = 0n, code = EMPTY_BYTES }]) => [
        address,
        { balance: toQuantity(balance), nonce: toQuantity(nonce), code: bytesToHex(code) },
      ]),
    ),
    ...(urls && { urls }),
    verified: isVerified,
  };
}
