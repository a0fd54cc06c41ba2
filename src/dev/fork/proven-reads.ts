import type { Address } from "../../base/primitives/address.ts";
import { bytesToBigint } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashToBytes } from "../../base/primitives/hash.ts";
import { keccak256Hash, keccak256OfHex } from "../../base/primitives/keccak.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { decodeRlp, InvalidRlpError } from "../../base/primitives/rlp.ts";
import type { JsonObject } from "../../base/primitives/shape.ts";
import { EMPTY_ACCOUNT } from "../../evm/state/account.ts";
import { decodeTrieAccount, type TrieAccount } from "../../evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../store/trie/empty-root.ts";
import { descend } from "../../store/trie/proof.ts";
import { ForkProofError } from "./errors.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { bytesOf, listOf, objectOf } from "./remote-json.ts";
import { checkResult, type PlanReads, planPlainReads } from "./remote-results.ts";

/** geth takes so many keys in one call, and other nodes as many. */
const SLOTS_MAX = 1_024;
/** A key has 64 nibbles, each of them a node at most. */
const PROOF_NODES_MAX = 65;
/** A branch of 16 hashes has 532 bytes, a leaf of an account 150. */
const NODE_LENGTH_MAX = 1_024;
const WORD_LENGTH = 32;

const ACCOUNT_FIELDS: Readonly<Record<string, (account: TrieAccount) => string>> = {
  eth_getBalance: ({ balance }) => toQuantity(balance),
  eth_getTransactionCount: ({ nonce }) => toQuantity(nonce),
};

/** What is requested for one account: `eth_getProof` with all slots of it, and its code where that is read. */
type AccountReads = {
  readonly address: string;
  readonly slots: string[];
  isCodeRead: boolean;
};

/**
 * Reads of the state at `block` are requested as Merkle proofs (EIP-1186) and answered from these alone, under `stateRoot`: what the remote node says beside
 * them counts for nothing. Balance and nonce of an account, which are two calls otherwise, and all its slots are one. Other reads are requested as they are.
 * @param block QUANTITY of the forked block
 */
export function planProvenReads(stateRoot: Hash, block: string): PlanReads {
  return (reads) => {
    const accounts = new Map<string, AccountReads>();
    for (const read of reads) if (isStateRead(read, block)) collect(accounts, read);
    const others = reads.filter((read) => !isStateRead(read, block));
    const proofs = [...accounts.values()];
    const codes = proofs.filter(({ isCodeRead }) => isCodeRead);
    return {
      calls: [
        ...proofs.map(({ address, slots }) => ({
          method: "eth_getProof",
          params: [address, slots, block],
        })),
        ...codes.map(({ address }) => ({ method: "eth_getCode", params: [address, block] })),
        ...others,
      ],
      resultsOf(answers) {
        const proven = new Map(proofs.map((each, i) => [each.address, new ProvenAccount(stateRoot, each, answers[i])]));
        for (const [i, { address }] of codes.entries()) {
          proven.get(address)!.code = answers[proofs.length + i];
        }
        const rest = planPlainReads(others).resultsOf(answers.slice(proofs.length + codes.length));
        const byRead = new Map(others.map((read, i) => [read, rest[i]]));
        return reads.map((read) => (byRead.has(read) ? byRead.get(read) : proven.get(addressIn(read))!.resultOf(read)));
      },
    };
  };
}

/** An account and slots of it, as a proof shows them. */
class ProvenAccount {
  readonly #account: TrieAccount;
  readonly #slots: ReadonlyMap<string, bigint>;
  /** DATA, as `eth_getCode` answered it */
  code: unknown;

  /** @param answer of `eth_getProof` */
  constructor(stateRoot: Hash, { address, slots }: AccountReads, answer: unknown) {
    const proof = objectOf(answer);
    const leaf = valueUnder(hashToBytes(stateRoot), address as Address, nodesOf(proof, address));
    this.#account = leaf === undefined ? NO_ACCOUNT : decodeLeaf(leaf, address);
    const { storageRoot } = this.#account;
    const storage = listOf(proof["storageProof"] ?? [], SLOTS_MAX);
    if (storage.length !== slots.length) {
      throw new ForkProofError(`${storage.length} proofs of ${slots.length} slots`, { address });
    }
    this.#slots = new Map(
      slots.map((slot, i) => {
        const value = valueUnder(storageRoot, slot as Hash, nodesOf(objectOf(storage[i]), slot));
        return [slot, value === undefined ? 0n : decodeSlot(value, address)];
      }),
    );
  }

  /** In the spelling of `checkResult`. @throws ForkRemoteError, ForkProofError */
  resultOf(read: RemoteCall): string {
    const { method, params } = read;
    if (method === "eth_getCode") return this.#provenCode(read);
    if (method === "eth_getStorageAt") {
      return hashFromBigint(this.#slots.get(params[1] as string)!);
    }
    return ACCOUNT_FIELDS[method]!(this.#account);
  }

  #provenCode(read: RemoteCall): string {
    const code = checkResult(read, this.code) as string;
    if (keccak256Hash(bytesOf(code)) === this.#account.codeHash) return code;
    throw new ForkProofError("code has another hash than its account", { address: read.params[0] });
  }
}

const NO_ACCOUNT: TrieAccount = { ...EMPTY_ACCOUNT, storageRoot: EMPTY_TRIE_ROOT_BYTES };

function isStateRead({ method, params }: RemoteCall, block: string): boolean {
  if (method === "eth_getStorageAt") return params[2] === block;
  return (method === "eth_getCode" || Object.hasOwn(ACCOUNT_FIELDS, method)) && params[1] === block;
}

function addressIn({ params }: RemoteCall): string {
  return params[0] as string;
}

function collect(accounts: Map<string, AccountReads>, read: RemoteCall): void {
  const address = addressIn(read);
  const account = accounts.get(address) ?? { address, slots: [], isCodeRead: false };
  accounts.set(address, account);
  if (read.method === "eth_getCode") account.isCodeRead = true;
  if (read.method !== "eth_getStorageAt") return;
  const slot = read.params[1] as string;
  if (!account.slots.includes(slot)) account.slots.push(slot);
}

/** Nodes of a proof: `accountProof` of an account, `proof` of a slot. */
function nodesOf(proof: JsonObject, key: string): readonly Uint8Array[] {
  const nodes = proof[key.length === 42 ? "accountProof" : "proof"];
  return listOf(nodes, PROOF_NODES_MAX).map((node) => bytesOf(node, NODE_LENGTH_MAX));
}

/**
 * The value of `key` under `root`; undefined if the proof shows its absence. Trie nodes are found by their hashes: some remote nodes send more
 * than the path needs, such as embedded ones.
 * @throws ForkProofError
 */
function valueUnder(root: Uint8Array, key: Address | Hash, nodes: readonly Uint8Array[]): Uint8Array | undefined {
  const byHash = new Map(nodes.map((node) => [keccak256Hash(node), node]));
  const failed = (text: string, options?: ErrorOptions) =>
    new ForkProofError(`a proof of the remote chain's state ${text}`, { key }, options);
  try {
    return descend(root, keccak256OfHex(key), (hash) => {
      const node = byHash.get(`0x${Buffer.from(hash).toString("hex")}` as Hash);
      if (node === undefined) throw failed("does not lead to the state root");
      return node;
    });
  } catch (cause) {
    if (cause instanceof InvalidRlpError) throw failed("is no trie node", { cause });
    throw cause;
  }
}

function decodeLeaf(leaf: Uint8Array, address: string): TrieAccount {
  try {
    return decodeTrieAccount(leaf);
  } catch (cause) {
    if (!(cause instanceof InvalidRlpError)) throw cause;
    throw new ForkProofError("the leaf of a proof does not decode as an account", { address }, { cause });
  }
}

function decodeSlot(leaf: Uint8Array, address: string): bigint {
  const value = decodeRlp(leaf);
  if (value instanceof Uint8Array && value.length <= WORD_LENGTH) return bytesToBigint(value);
  throw new ForkProofError("the leaf of a proof does not decode as a slot", { address });
}
