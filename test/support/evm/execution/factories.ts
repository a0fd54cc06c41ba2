import { addressFromPrivateKey } from "../../../../src/base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../../../src/base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../../src/base/params/chain-config.ts";
import { REQUEST_CONTRACTS } from "../../../../src/base/params/gas.ts";
import type { GenesisAccount, GenesisAlloc } from "../../../../src/base/params/genesis-account.ts";
import { type Address, ZERO_ADDRESS } from "../../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../../src/base/primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../../../src/base/primitives/hash.ts";
import { type Hex, hexToBytes } from "../../../../src/base/primitives/hex.ts";
import { BLOOM_LENGTH } from "../../../../src/base/types/bloom.ts";
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../../../../src/base/types/constants.ts";
import type { Header } from "../../../../src/base/types/header.ts";
import { headerHash } from "../../../../src/base/types/header-codec.ts";
import { signTransaction } from "../../../../src/base/types/transaction/sign.ts";
import type { FeeMarketTransaction, Transaction } from "../../../../src/base/types/transaction/transaction.ts";
import type { BlockParent, ExecutionModules } from "../../../../src/evm/execution/block/block-execution.ts";
import type { TransactionMessage } from "../../../../src/evm/execution/transaction/message.ts";
import type { BlockContext, Evm } from "../../../../src/evm/machine/evm.ts";
import type { StateReader } from "../../../../src/evm/state/reader.ts";
import { changesOfAlloc } from "../../../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../../../src/evm/state/state-trie.ts";
import { createWorldState } from "../../../../src/evm/state/world-state.ts";
import { createEthereumjsEvm } from "../../../oracle/ethereumjs/evm.ts";
import { createMemoryNodes } from "../../store/trie/memory-nodes.ts";
import { testBlock } from "../machine/environment.ts";
import { createMemoryState } from "../state/memory-state.ts";

/** One engine for all tests of a file: it loads its library once. */
export const evm = createEthereumjsEvm();

const aliceKey = new Uint8Array(32).fill(1);
export const alice = addressFromPrivateKey(aliceKey);
export const bob = `0x${"b0".repeat(20)}` as Address;
export const coinbase = `0x${"c0".repeat(20)}` as Address;
export const contract = `0x${"cc".repeat(20)}` as Address;

export const ETHER = 10n ** 18n;
export const GWEI = 10n ** 9n;

export const config: ChainConfig = allForksAtGenesis(1n);

export function account(fields: { balance?: bigint; nonce?: bigint; code?: Hex } = {}) {
  const { balance = 0n, nonce = 0n, code = "0x" } = fields;
  return { balance, nonce, code: hexToBytes(code), storage: new Map() } satisfies GenesisAccount;
}

/** Alice with ten ether, a contract with `code`, and whatever else there is to be. */
export function allocWith(code: Hex = "0x", more: readonly (readonly [Address, GenesisAccount])[] = []): GenesisAlloc {
  return new Map([[alice, account({ balance: 10n * ETHER })], [contract, account({ nonce: 1n, code })], ...more]);
}

export function blockContext(overrides: Partial<BlockContext> = {}): BlockContext {
  return testBlock({ timestamp: 1_000, coinbase, ...overrides });
}

/** A call of the contract at a price of 10 wei. */
export function messageOf(overrides: Partial<TransactionMessage> = {}): TransactionMessage {
  return {
    from: alice,
    to: contract,
    nonce: 0n,
    value: 0n,
    gasLimit: 100_000n,
    gasPrice: 10n,
    maxFeePerGas: 10n,
    maxPriorityFeePerGas: 3n,
    data: EMPTY_BYTES,
    accessList: [],
    ...overrides,
  };
}

export function stateWith(alloc: GenesisAlloc = allocWith()) {
  return createWorldState(createMemoryState(alloc));
}

/** `state` with a count of how often single slots were read and how often all of an account were listed. */
export function countingReads(state: StateReader) {
  const reads = { slots: 0, scans: 0 };
  const counted: StateReader = {
    account: (address) => state.account(address),
    code: (codeHash) => state.code(codeHash),
    storage(address, slot) {
      reads.slots++;
      return state.storage(address, slot);
    },
    storageEntries(address) {
      reads.scans++;
      return state.storageEntries(address);
    },
  };
  return { state: counted, reads };
}

/** A transfer of 1 wei from Alice to Bob. */
export function transactionOf(overrides: Partial<FeeMarketTransaction> = {}): Transaction {
  return signTransaction(
    {
      type: 2,
      chainId: 1n,
      nonce: 0n,
      gasLimit: 21_000n,
      to: bob,
      value: 1n,
      data: EMPTY_BYTES,
      maxFeePerGas: 2n * GWEI,
      maxPriorityFeePerGas: GWEI,
      accessList: [],
      ...overrides,
    },
    aliceKey,
  );
}

export function headerOf(overrides: Partial<Header> = {}): Header {
  return {
    parentHash: ZERO_HASH,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(BLOOM_LENGTH),
    difficulty: 0n,
    number: 0,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_000,
    extraData: EMPTY_BYTES,
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    baseFeePerGas: GWEI,
    withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: EMPTY_REQUESTS_HASH,
    ...overrides,
  };
}

/** `header` without the fields that came after London. */
export function withoutLaterFields(header: Header): Header {
  const {
    baseFeePerGas: _1,
    withdrawalsRoot: _2,
    blobGasUsed: _3,
    excessBlobGas: _4,
    parentBeaconBlockRoot: _5,
    requestsHash: _6,
    ...older
  } = header;
  return older;
}

/** PUSH0 PUSH0 RETURN: a queue contract with nothing in its queue. */
const EMPTY_QUEUE = "0x5f5ff3";

export type TestChain = {
  readonly genesis: BlockParent & { readonly hash: Hash };
  readonly modules: ExecutionModules;
  readonly state: StateReader;
};

/** A genesis with `alloc` and all request contracts, ready for a block on it. */
export function testChain(alloc: GenesisAlloc = allocWith(), chainConfig = config, engine: Evm = evm): TestChain {
  const full: GenesisAlloc = new Map([
    ...REQUEST_CONTRACTS.map(({ address }): [Address, GenesisAccount] => [address, account({ code: EMPTY_QUEUE })]),
    ...alloc,
  ]);
  const nodes = createMemoryNodes();
  const stateTrie = createStateTrie(nodes, { cacheBytes: 1 << 16 });
  const { root, nodes: created } = stateTrie.update(EMPTY_TRIE_ROOT, changesOfAlloc(full));
  nodes.keep(created);
  const header = headerOf({ stateRoot: root });
  const state = createMemoryState(full);
  const hash = headerHash(header);
  return {
    genesis: { header, state, hash, blockHash: (number) => (number === 0 ? hash : undefined) },
    modules: { config: chainConfig, evm: engine, stateTrie },
    state,
  };
}
