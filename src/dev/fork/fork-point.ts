import type { GenesisAccount } from "../../params/genesis.ts";
import { type Address, parseAddress } from "../../primitives/address.ts";
import { parseHash } from "../../primitives/hash.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Header } from "../../types/header.ts";
import { ForkRemoteError } from "./errors.ts";
import type { RemoteCall, RemoteCalls } from "./remote-calls.ts";
import { bigintOf, bytesOf } from "./remote-state.ts";

/** The block of a remote chain that a dev chain continues, and the accounts that it has from there on. */
export type ForkPoint = {
  readonly chainId: bigint;
  readonly header: Header;
  readonly alloc: ReadonlyMap<Address, GenesisAccount>;
};

/** Accounts that the dev chain needs. */
export type ForkAccounts = {
  /** Are given this balance in wei; nonce and code stay those of the remote chain. */
  readonly funded: ReadonlyMap<Address, bigint>;
  /** Contracts that are created where the remote chain has no code. */
  readonly contracts: ReadonlyMap<Address, Uint8Array>;
};

/**
 * Reads the point from the remote chain.
 * @param blockNumber undefined: the newest block
 * @throws ForkRemoteError
 */
export async function readForkPoint(
  call: RemoteCalls,
  blockNumber: number | undefined,
  { funded, contracts }: ForkAccounts,
): Promise<ForkPoint> {
  const block = blockNumber === undefined ? "latest" : toQuantity(blockNumber);
  const [chainId, json] = await call([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [block, false] },
  ]);
  if (json === null) throw new ForkRemoteError(`the remote chain has no block ${blockNumber}`);
  const header = headerOf(json as BlockJson);
  const at = toQuantity(header.number);
  const calls = [...funded.keys()].map(
    (address): RemoteCall => ({ method: "eth_getTransactionCount", params: [address, at] }),
  );
  const addresses = [...funded.keys(), ...contracts.keys()];
  const codes = addresses.map(
    (address): RemoteCall => ({ method: "eth_getCode", params: [address, at] }),
  );
  const results = await call([...calls, ...codes]);
  const nonces = results.slice(0, calls.length);
  const codeOf = new Map(
    addresses.map((address, index) => [address, bytesOf(results[calls.length + index])]),
  );
  const alloc = new Map<Address, GenesisAccount>();
  for (const [index, [address, balance]] of [...funded].entries()) {
    const code = codeOf.get(address)!;
    alloc.set(address, { balance, nonce: bigintOf(nonces[index]), code });
  }
  for (const [address, code] of contracts) {
    if (codeOf.get(address)!.length === 0) alloc.set(address, { balance: 0n, nonce: 1n, code });
  }
  return { chainId: bigintOf(chainId), header, alloc };
}

type BlockJson = Readonly<Record<string, unknown>>;

/** @throws ForkRemoteError */
function headerOf(json: BlockJson): Header {
  const quantity = (name: string) => bigintOf(json[name]);
  const bytes = (name: string) => bytesOf(json[name] ?? "0x");
  const hash = (name: string) => parseHash(String(json[name]).toLowerCase());
  const optional = <T>(name: string, read: (name: string) => T) =>
    json[name] === undefined || json[name] === null ? {} : { [name]: read(name) };
  return {
    parentHash: hash("parentHash"),
    sha3Uncles: hash("sha3Uncles"),
    coinbase: parseAddress(String(json["miner"]).toLowerCase()),
    stateRoot: hash("stateRoot"),
    transactionsRoot: hash("transactionsRoot"),
    receiptsRoot: hash("receiptsRoot"),
    logsBloom: bytes("logsBloom"),
    difficulty: quantity("difficulty"),
    number: Number(quantity("number")),
    gasLimit: quantity("gasLimit"),
    gasUsed: quantity("gasUsed"),
    timestamp: Number(quantity("timestamp")),
    extraData: bytes("extraData"),
    mixHash: hash("mixHash"),
    nonce: bytes("nonce"),
    ...optional("baseFeePerGas", quantity),
    ...optional("withdrawalsRoot", hash),
    ...optional("blobGasUsed", quantity),
    ...optional("excessBlobGas", quantity),
    ...optional("parentBeaconBlockRoot", hash),
    ...optional("requestsHash", hash),
  };
}
