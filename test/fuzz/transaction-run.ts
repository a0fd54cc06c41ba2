import { NodeError } from "../../src/base/errors.ts";
import { allForksAtGenesis, DEFAULT_BLOB_SCHEDULE } from "../../src/base/params/blob-schedule.ts";
import { GAS_PER_BLOB } from "../../src/base/params/gas.ts";
import type { GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import { TransactionRejection } from "../../src/base/types/transaction/codec.ts";
import { decodeTransaction } from "../../src/base/types/transaction/decode.ts";
import { BlockExecution } from "../../src/evm/execution/block/block-execution.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import type { StateChanges } from "../../src/evm/state/reader.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import type { OracleAccount, OracleResult, TransactionOracle } from "../oracle/ethereumjs/transaction.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { allocOf, type Outcome } from "./run.ts";
import { type TransactionCase, transactionBlockOf, transactionOf } from "./transaction-case.ts";
import { ruleOfCode, ruleOfText } from "./transaction-rules.ts";

/** For the roots in receipts before EIP-658, which are not looked at: they build on nothing. */
const stateTrie = createStateTrie(createMemoryNodes(), { cacheBytes: 1 << 16 });

/** The outcome of a transaction, and what its gas limit had to cover; 0 where it was rejected. */
export type TransactionOutcome = Outcome & { readonly maxUsedGas: bigint };

/** Decodes and executes the transaction as one of a block's. */
export function runTransaction(fuzzCase: TransactionCase, evm: Evm): TransactionOutcome {
  const { raw } = transactionOf(fuzzCase);
  const alloc = allocOf(fuzzCase.accounts);
  const context = transactionBlockOf(fuzzCase);
  const state = createWorldState(createMemoryState(alloc));
  const stateNow = () => stateAfter(alloc, state.changes());
  const blobGasMax = BigInt(DEFAULT_BLOB_SCHEDULE[context.hardfork]?.max ?? 0) * GAS_PER_BLOB;
  const block = new BlockExecution(
    { context, state, baseRoot: EMPTY_TRIE_ROOT, blobGasMax },
    { ...context, parentHash: ZERO_HASH, mixHash: context.prevRandao },
    { config: allForksAtGenesis(context.chainId), evm, stateTrie },
  );
  try {
    const { result, receipt } = block.addTransaction(decodeTransaction(raw));
    const { contractAddress, gasUsed, logs } = receipt;
    const createdAddress = contractAddress ?? undefined;
    const { outcome, returnData } = result;
    const facts = { outcome, returnData, gasUsed, logs, createdAddress };
    return { ...outcomeOf(facts, stateNow()), maxUsedGas: result.maxUsedGas };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { ...rejectedBy(ruleOfCode(error.code), stateNow()), maxUsedGas: 0n };
  }
}

/** Types 3 and 4 cannot create: a transaction without recipient does not decode. */
function isRefusal(error: unknown): error is NodeError {
  const isShort = error instanceof NodeError && error.code === "RLP_STRING_TOO_SHORT";
  return isShort || error instanceof TransactionRejection;
}

/** The same transaction on the oracle. */
export function runOnOracle(fuzzCase: TransactionCase, oracle: TransactionOracle): Outcome {
  const { raw } = transactionOf(fuzzCase);
  const block = transactionBlockOf(fuzzCase);
  const { rejection, result, state } = oracle.apply(raw, allocOf(fuzzCase.accounts), block);
  return result ? outcomeOf(result, state) : rejectedBy(ruleOfText(rejection ?? ""), state);
}

function rejectedBy(rule: string, state: ReadonlyMap<Address, OracleAccount>): Outcome {
  return { gasUsed: 0n, steps: [], facts: { rejected: "yes", state: describe(state), rule } };
}

function outcomeOf(result: OracleResult, state: ReadonlyMap<Address, OracleAccount>): Outcome {
  const { outcome, gasUsed, returnData, logs, createdAddress } = result;
  return {
    gasUsed,
    steps: [],
    facts: {
      rejected: "no",
      outcome,
      gasUsed: gasUsed.toString(),
      returnData: bytesToHex(returnData),
      logs: logs.map(({ address, topics, data }) => [address, ...topics, bytesToHex(data)].join(" ")).join("\n"),
      createdAddress: createdAddress ?? "",
      state: describe(state),
    },
  };
}

/** `alloc` with `changes`. */
function stateAfter(alloc: GenesisAlloc, { accounts }: StateChanges): ReadonlyMap<Address, OracleAccount> {
  const state = new Map<Address, OracleAccount>();
  for (const [address, { balance, nonce = 0n, code = EMPTY_BYTES, storage = new Map() }] of alloc) {
    state.set(address, { balance, nonce, codeHash: keccak256Hash(code), storage });
  }
  for (const { address, account, storage, storageCleared } of accounts) {
    if (account === null) {
      state.delete(address);
      continue;
    }
    const before = storageCleared ? [] : (state.get(address)?.storage ?? []);
    const slots = new Map<Hash, bigint>([...before, ...storage]);
    state.set(address, { ...account, storage: slots });
  }
  return state;
}

function describe(state: ReadonlyMap<Address, OracleAccount>): string {
  return [...state]
    .map(([address, { nonce, balance, codeHash, storage }]) => {
      const slots = [...storage]
        .filter(([, value]) => value !== 0n)
        .map(([slot, value]) => `${BigInt(slot)}=${value}`)
        .sort();
      return [address, `nonce ${nonce} balance ${balance} code ${codeHash}`, ...slots].join(" ");
    })
    .sort()
    .join("\n");
}
