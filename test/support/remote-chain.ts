import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import { type Address, ZERO_ADDRESS } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { EMPTY_BLOOM } from "../../src/base/types/bloom.ts";
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import { headerHash } from "../../src/base/types/header-codec.ts";
import type { RemoteCall } from "../../src/dev/fork/remote-calls.ts";
import { changesOfAlloc } from "../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createMemoryNodes } from "./store/trie/memory-nodes.ts";

export const REMOTE_CHAIN_ID = 4242;

/** A chain of one block with a state and its proofs, as nodes answer it. */
export type RemoteChainModel = {
  readonly header: Header;
  readonly hash: Hash;
  /** A correct result; undefined: it has no such method. */
  resultOf(call: RemoteCall): unknown;
};

/** @param fields of the header that replace ordinary ones */
export function modelRemoteChain(
  alloc: ReadonlyMap<Address, GenesisAccount>,
  fields: Partial<Header> = {},
): RemoteChainModel {
  const nodes = createMemoryNodes();
  const trie = createStateTrie(nodes);
  const update = trie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
  nodes.keep(update.nodes);
  const header = headerWith({ stateRoot: update.root, ...fields });
  const hash = headerHash(header);

  function resultOf({ method, params }: RemoteCall): unknown {
    const [address, slot] = params as [Address, Hash];
    const { balance = 0n, nonce = 0n, code = EMPTY_BYTES, storage } = alloc.get(address) ?? {};
    switch (method) {
      case "eth_chainId":
        return toQuantity(REMOTE_CHAIN_ID);
      case "eth_getBlockByNumber":
      case "eth_getBlockByHash":
        return blockJson(header, hash);
      case "eth_getBalance":
        return toQuantity(balance);
      case "eth_getTransactionCount":
        return toQuantity(nonce);
      case "eth_getCode":
        return bytesToHex(code);
      case "eth_getStorageAt":
        return hashFromBigint(storage?.get(slot) ?? 0n);
      case "eth_createAccessList":
        return {
          accessList: [{ address: ZERO_ADDRESS, storageKeys: [ZERO_HASH] }],
          gasUsed: "0x1",
        };
      case "eth_getProof": {
        const proof = trie.prove(header.stateRoot, address, params[1] as Hash[]);
        return {
          address,
          balance: toQuantity(balance),
          nonce: toQuantity(nonce),
          codeHash: keccak256Hash(code),
          storageHash: proof.storageRoot ?? ZERO_HASH,
          accountProof: proof.accountProof.map(bytesToHex),
          storageProof: proof.storageProofs.map((each) => ({
            key: each.slot,
            value: toQuantity(each.value),
            proof: each.proof.map(bytesToHex),
          })),
        };
      }
      default:
        return undefined;
    }
  }
  return { header, hash, resultOf };
}

function headerWith(fields: Partial<Header> & Pick<Header, "stateRoot">): Header {
  return {
    parentHash: hashFromBigint(77n),
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: ZERO_ADDRESS,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: 0n,
    number: 100,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_700_000_000,
    extraData: EMPTY_BYTES,
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    baseFeePerGas: 7n,
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: EMPTY_REQUESTS_HASH,
    ...fields,
  };
}

/** The block of `header`, as `eth_getBlockByNumber` answers it. */
export function blockJson(header: Header, hash: Hash): Record<string, unknown> {
  const { coinbase, ...rest } = header;
  const members = Object.entries(rest).map(([name, value]) => [
    name,
    typeof value === "bigint" || typeof value === "number"
      ? toQuantity(value)
      : value instanceof Uint8Array
        ? bytesToHex(value)
        : value,
  ]);
  return { ...Object.fromEntries(members), hash, miner: coinbase, transactions: [], uncles: [] };
}

export type NumberedCall = RemoteCall & { readonly id: number };
/** Answers a batch, whole: `response` is ended by it. */
export type Respond = (
  calls: readonly NumberedCall[],
  response: ServerResponse,
  headers: IncomingHttpHeaders,
) => unknown;

/** An HTTP server for batches. */
export async function serveBatches(respond: Respond) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const calls = JSON.parse(Buffer.concat(chunks).toString()) as NumberedCall[];
      void respond(calls, response, request.headers);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The answer of an honest node that has the methods of the model alone. */
export function answersOf({ resultOf }: Pick<RemoteChainModel, "resultOf">, calls: readonly NumberedCall[]) {
  return calls.map((call) => {
    const result = resultOf(call);
    const missing = { code: -32601, message: "the method does not exist" };
    return {
      jsonrpc: "2.0",
      id: call.id,
      ...(result === undefined ? { error: missing } : { result }),
    };
  });
}
