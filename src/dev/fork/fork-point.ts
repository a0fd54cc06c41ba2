import type { GenesisAccount } from "../../params/genesis.ts";
import type { Address } from "../../primitives/address.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Header } from "../../types/header.ts";
import { ForkRemoteError } from "./errors.ts";
import type { RemoteCall, RemoteCalls } from "./remote-calls.ts";
import { assertContinuable, type RemoteHeader, remoteHeaderOf } from "./remote-header.ts";
import { bigintOf, bytesOf } from "./remote-values.ts";

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

/** The block to continue, before anything of its state is read. */
export type ForkBlock = { readonly chainId: bigint; readonly header: Header };

/**
 * Reads the block to continue from the remote chain.
 * @param blockNumber undefined: the newest block
 * @returns with the hash that the remote chain gives it: another one than that of its fields where its headers are not Ethereum's
 * @throws ForkRemoteError, ForkHeaderError: nothing may be stored of such a block
 */
export async function readForkBlock(
  call: RemoteCalls,
  blockNumber: number | undefined,
): Promise<ForkBlock & Pick<RemoteHeader, "hash" | "claimedHash">> {
  const block = blockNumber === undefined ? "latest" : toQuantity(blockNumber);
  const [chainId, json] = await call([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [block, false] },
  ]);
  if (json === null) throw new ForkRemoteError(`the remote chain has no block ${block}`);
  const { header, hash, claimedHash } = remoteHeaderOf(json);
  assertContinuable(header);
  return { chainId: bigintOf(chainId), header, hash, claimedHash };
}

/**
 * Reads the accounts that the dev chain changes from the remote chain.
 * @param call reads the state after `header`
 * @throws ForkRemoteError, ForkProofError
 */
export async function readForkPoint(
  call: RemoteCalls,
  { chainId, header }: ForkBlock,
  { funded, contracts }: ForkAccounts,
): Promise<ForkPoint> {
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
  return { chainId, header, alloc };
}
