import { createRequire } from "node:module";
import type { Common } from "@ethereumjs/common";
import type { EVM } from "@ethereumjs/evm";
import type * as Statemanager from "@ethereumjs/statemanager";
import type * as Tx from "@ethereumjs/tx";
import type * as Util from "@ethereumjs/util";
import type * as Vm from "@ethereumjs/vm";
import { invariant } from "../../../src/base/errors.ts";
import type { GenesisAlloc } from "../../../src/base/params/genesis-account.ts";
import { type Address, addressFromBytes } from "../../../src/base/primitives/address.ts";
import { bigintToBytes, bytesToBigint, EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../../src/base/primitives/hash.ts";
import { keccak256 } from "../../../src/base/primitives/keccak.ts";
import type { Log } from "../../../src/base/types/receipt.ts";
import type { BlockContext, ExecutionResult } from "../../../src/evm/machine/evm.ts";
import { precompilesAt } from "../../../src/evm/machine/precompiles/index.ts";
import { createLibraryEvm, libraryBlock, libraryBlockchain, logOf } from "./evm.ts";
import { failureOf } from "./halt.ts";
import { loadLibrary } from "./library.ts";

/** An account as it is in the library's own state; slots that are 0 are left out. */
export type OracleAccount = {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Hash;
  readonly storage: ReadonlyMap<Hash, bigint>;
};

export type OracleResult = {
  readonly outcome: ExecutionResult["outcome"];
  readonly gasUsed: bigint;
  readonly returnData: Uint8Array;
  readonly logs: readonly Log[];
  /** Where a creation put its contract, or would have; undefined for a call. */
  readonly createdAddress: Address | undefined;
};

/** The outcome of a transaction: `rejection` is the library's message, and `result` is there when it was not rejected. */
export type OracleOutcome = {
  readonly rejection?: string;
  readonly result?: OracleResult;
  readonly state: ReadonlyMap<Address, OracleAccount>;
};

/** A second opinion on the state transition of one transaction. */
export type TransactionOracle = {
  /** Decodes `raw` and applies it to `alloc`, which stays as it is. */
  apply(raw: Uint8Array, alloc: GenesisAlloc, block: BlockContext): OracleOutcome;
};

type RunTx = typeof Vm.runTx;
type SimpleStateManager = Statemanager.SimpleStateManager;

/** Any root but that of the empty trie: the library only asks whether there is storage at all. */
const SOME_STORAGE_ROOT = new Uint8Array(32).fill(1);

/**
 * `runTx` of @ethereumjs/vm on the library's own state, decoding and sender recovery. Only the precompiles are ours: the
 * library's are judged elsewhere, and some are slow.
 */
export function createTransactionOracle(): TransactionOracle {
  const library = loadLibrary();
  const require = createRequire(import.meta.url);
  const { createTxFromRLP } = require("@ethereumjs/tx") as typeof Tx;
  const { runTx } = library.load("@ethereumjs/vm", "runTx.js") as { runTx: RunTx };
  const { VM } = library.load("@ethereumjs/vm", "vm.js") as { VM: typeof Vm.VM };
  const { SimpleStateManager } = library.load("@ethereumjs/statemanager", "simpleStateManager.js") as Pick<
    typeof Statemanager,
    "SimpleStateManager"
  >;
  const machines = new Map<string, Machine>();

  const machineFor = ({ hardfork, chainId }: BlockContext): Machine => {
    const key = `${hardfork} ${chainId}`;
    const known = machines.get(key);
    if (known) return known;
    const common = library.createCommon(chainId, hardfork);
    const manager = new SimpleStateManager({ common });
    // Read by receipts before EIP-658; this manager has no trie.
    manager.getStateRoot = () => new Uint8Array(32) as never;
    const stateManager = manager as unknown as EVM["stateManager"];
    const evm = createLibraryEvm(library, common, stateManager, precompilesAt(hardfork));
    // The types want a whole blockchain; only the EVM asks one for anything.
    const vm = new VM({ common, evm, stateManager } as never);
    const machine = { common, manager, evm, vm };
    machines.set(key, machine);
    return machine;
  };

  return {
    apply(raw, alloc, block) {
      const { common, manager, evm, vm } = machineFor(block);
      fill(manager, alloc, library.util);
      evm.journal.cleanJournal();
      evm.transientStorage.clear();
      evm.blockchain = libraryBlockchain(block) as unknown as EVM["blockchain"];
      try {
        const tx = createTxFromRLP(raw, { common });
        const options = {
          tx,
          block: libraryBlock(block, library),
          blockGasUsed: 0n,
          // The block is not the library's own and does not know its fork.
          skipHardForkValidation: true,
        };
        const results = library.realm.run(() => runTx(vm, options as unknown as Vm.RunTxOpts));
        return { result: resultOf(results, block), state: stateOf(manager) };
      } catch (error) {
        if (!(error instanceof library.util.EthereumJSError)) throw error;
        return { rejection: error.message, state: stateOf(manager) };
      }
    },
  };
}

type Machine = {
  readonly common: Common;
  readonly manager: SimpleStateManager;
  readonly evm: EVM;
  readonly vm: Vm.VM;
};

function resultOf(
  { execResult, totalGasSpent, createdAddress }: Vm.RunTxResult,
  { hardfork }: BlockContext,
): OracleResult {
  const { exceptionError, returnValue, logs = [] } = execResult;
  const failure = failureOf(exceptionError, hardfork);
  const isRevert = failure?.error === "revert";
  const failed = isRevert ? "revert" : "halt";
  // The output of a frame that ended in another way is no return data.
  const returns = exceptionError === undefined || isRevert;
  return {
    outcome: failure ? failed : "success",
    gasUsed: totalGasSpent,
    returnData: returns ? Uint8Array.from(returnValue) : EMPTY_BYTES,
    logs: failure ? [] : logs.map(logOf),
    createdAddress: createdAddress && addressFromBytes(createdAddress.bytes),
  };
}

/** The maps the manager keeps for the state without checkpoints; its methods would say the same and answer later. */
type Maps = {
  accountStack: Map<Address, Util.Account | undefined>[];
  codeStack: Map<Address, Uint8Array>[];
  storageStack: Map<string, Uint8Array>[];
};

/** Makes `alloc` the whole state of `manager`. */
function fill(manager: SimpleStateManager, alloc: GenesisAlloc, util: typeof Util): void {
  const accounts: Maps["accountStack"][number] = new Map();
  const codes: Maps["codeStack"][number] = new Map();
  const slots: Maps["storageStack"][number] = new Map();
  for (const [address, { balance, nonce = 0n, code = EMPTY_BYTES, storage = new Map() }] of alloc) {
    const root = storage.size > 0 ? SOME_STORAGE_ROOT : util.KECCAK256_RLP;
    accounts.set(address, new util.Account(nonce, balance, root, keccak256(code)));
    codes.set(address, code);
    for (const [slot, value] of storage) slots.set(`${address}_${slot}`, bigintToBytes(value));
  }
  const maps = manager as unknown as Maps;
  maps.accountStack = [accounts];
  maps.codeStack = [codes];
  maps.storageStack = [slots];
  manager.originalStorageCache.clear();
}

function stateOf(manager: SimpleStateManager): ReadonlyMap<Address, OracleAccount> {
  const { accountStack, storageStack } = manager as unknown as Maps;
  invariant(accountStack.length === 1, "every checkpoint was committed or reverted");
  const state = new Map<Address, OracleAccount & { storage: Map<Hash, bigint> }>();
  for (const [address, account] of accountStack[0]!) {
    if (!account) continue;
    const { nonce, balance, codeHash } = account;
    state.set(address, { nonce, balance, codeHash: hashFromBytes(codeHash), storage: new Map() });
  }
  for (const [key, bytes] of storageStack[0]!) {
    const [address, slot] = key.split("_") as [Address, Hash];
    const value = bytesToBigint(bytes);
    // Slots of an account that is gone are gone with it.
    if (value !== 0n) state.get(address)?.storage.set(slot, value);
  }
  return state;
}
