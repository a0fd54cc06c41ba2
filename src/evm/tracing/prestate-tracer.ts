import { RULES_AT } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { recoverAuthority } from "../../base/types/transaction/sender.ts";
import { accessOfStep } from "../execution/call/create-access-list.ts";
import { delegationTarget } from "../execution/transaction/authorizations.ts";
import { createAddress } from "../machine/contract-creation.ts";
import { EMPTY_ACCOUNT, isEmptyAccount } from "../state/account.ts";
import type { StateReader } from "../state/reader.ts";
import { InvalidTracerError } from "./trace-budget.ts";
import type { TracedTransaction, TracerConfig, TracerFactory } from "./tracer-config.ts";
import { readSwitches } from "./tracer-config.ts";

type Options = {
  readonly diffMode: boolean;
  readonly disableCode: boolean;
  readonly disableStorage: boolean;
  readonly includeEmpty: boolean;
};

/** The members of an account that are shown; absent ones were not asked for or did not change. */
type ShownAccount = {
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly codeHash?: Hash;
  readonly code?: Uint8Array;
  readonly storage: ReadonlyMap<Hash, bigint>;
};

const SELFDESTRUCT = 0xff;

/**
 * `prestateTracer`: every account and slot the transaction touched, as it was before; with `diffMode` only what changed, before
 * and after.
 */
export const prestateTracer: TracerFactory = (config, traced) => {
  const options = readOptions(config);
  const { state, block } = traced;
  const touched = new Map<Address, Set<Hash>>();
  const created = new Set<Address>();
  const deleted = new Set<Address>();
  const touch = (address: Address): Set<Hash> => {
    let slots = touched.get(address);
    if (!slots) {
      slots = new Set();
      touched.set(address, slots);
    }
    return slots;
  };
  for (const address of accountsOf(traced)) touch(address);
  return {
    hooks: {
      onEnter({ type, to }) {
        if (type !== "CREATE" && type !== "CREATE2") return;
        touch(to);
        created.add(to);
      },
      onAccessStep(step) {
        // An opcode that fails has looked at nothing yet.
        const access = step.halt ? undefined : accessOfStep(step);
        if (!access) return;
        const slots = touch(access.address);
        if (access.slot !== null) slots.add(access.slot);
        if (access.isCall) touchDelegate(access.address);
        // EIP-6780: a contract goes only in the transaction that creates it.
        const goes = !RULES_AT[block.hardfork].cancun || created.has(step.address);
        if (step.opcode === SELFDESTRUCT && goes) deleted.add(step.address);
      },
    },
    result({ after }) {
      const before = [...touched].map(([address, slots]): [Address, ShownAccount] => [
        address,
        accountIn(state, address, slots, options),
      ]);
      const isShown = ([address]: readonly [Address, ShownAccount]) =>
        options.includeEmpty || !isEmptyAccount(state.account(address) ?? EMPTY_ACCOUNT);
      if (!options.diffMode) return stateText(before.filter(isShown));
      return diffText(before, isShown, deleted, { after, touched, options });
    },
  };

  /** A call of a delegated account also reads the account whose code it runs (EIP-7702). */
  function touchDelegate(address: Address): void {
    const target = delegateOf(traced, address);
    if (target) touch(target);
  }
};

function readOptions(config: TracerConfig): Options {
  const names = ["diffMode", "disableCode", "disableStorage", "includeEmpty"] as const;
  const options = readSwitches("prestateTracer", config, names);
  if (options.diffMode && options.includeEmpty) {
    throw new InvalidTracerError("cannot use diffMode with includeEmpty");
  }
  return options;
}

/** The accounts a transaction touches whatever its code does. */
function accountsOf(traced: TracedTransaction): readonly Address[] {
  const { message, block, state } = traced;
  const { from, to, authorizationList = [] } = message;
  const nonce = (state.account(from) ?? EMPTY_ACCOUNT).nonce;
  const target = to ?? createAddress(from, nonce);
  const delegate = to === null ? undefined : delegateOf(traced, to);
  const authorities = authorizationList.flatMap((each) => recoverAuthority(each) ?? []);
  return [from, target, block.coinbase, ...authorities, ...(delegate ? [delegate] : [])];
}

function delegateOf({ state, block }: TracedTransaction, address: Address): Address | undefined {
  if (!RULES_AT[block.hardfork].prague) return undefined;
  const account = state.account(address);
  return account && delegationTarget(state.code(account.codeHash));
}

function accountIn(state: StateReader, address: Address, slots: Iterable<Hash>, options: Options): ShownAccount {
  const { balance, nonce, codeHash } = state.account(address) ?? EMPTY_ACCOUNT;
  const storage = new Map<Hash, bigint>();
  if (!options.disableStorage) {
    for (const slot of slots) storage.set(slot, state.storage(address, slot));
  }
  const hasCode = codeHash !== EMPTY_CODE_HASH;
  return {
    balance,
    nonce,
    ...(hasCode && { codeHash }),
    ...(hasCode && !options.disableCode && { code: state.code(codeHash) }),
    storage,
  };
}

/** `{pre, post}` of what the transaction changed: `post` has the changed members, a deleted account is only in `pre`. */
function diffText(
  before: readonly (readonly [Address, ShownAccount])[],
  isShown: (entry: readonly [Address, ShownAccount]) => boolean,
  deleted: ReadonlySet<Address>,
  {
    after,
    touched,
    options,
  }: {
    readonly after: StateReader;
    readonly touched: ReadonlyMap<Address, ReadonlySet<Hash>>;
    readonly options: Options;
  },
): string {
  const pre: (readonly [Address, ShownAccount])[] = [];
  const post: [Address, ShownAccount][] = [];
  for (const entry of before) {
    const [address, old] = entry;
    if (deleted.has(address)) {
      pre.push(entry);
      continue;
    }
    const now = accountIn(after, address, touched.get(address) ?? [], options);
    const changed = changesOf(old, now, options);
    if (changed === undefined) continue;
    post.push([address, changed]);
    // A slot is shown where it changed, on the side where it held something.
    const storage = [...old.storage].filter(([slot, value]) => value !== 0n && value !== now.storage.get(slot));
    pre.push([address, { ...old, storage: new Map(storage) }]);
  }
  return `{"post":${stateText(post)},"pre":${stateText(pre.filter(isShown))}}`;
}

/** The members of `now` that differ from `old`; undefined when none does. */
function changesOf(old: ShownAccount, now: ShownAccount, { disableCode }: Options): ShownAccount | undefined {
  const changedSlots = [...now.storage].filter(([slot, value]) => old.storage.get(slot) !== value);
  const hasNewCode = old.codeHash !== now.codeHash;
  const changed: ShownAccount = {
    ...(now.balance !== old.balance && { balance: now.balance ?? 0n }),
    ...(now.nonce !== old.nonce && { nonce: now.nonce ?? 0n }),
    ...(hasNewCode && { codeHash: now.codeHash ?? EMPTY_CODE_HASH }),
    // Shown also where it is gone: a delegation can be cleared (EIP-7702).
    ...(hasNewCode && !disableCode && { code: now.code ?? EMPTY_BYTES }),
    storage: new Map(changedSlots.filter(([, value]) => value !== 0n)),
  };
  const isChanged = Object.keys(changed).length > 1 || changedSlots.length > 0;
  return isChanged ? changed : undefined;
}

function stateText(accounts: readonly (readonly [Address, ShownAccount])[]): string {
  const members = accounts.map(([address, account]) => `"${address}":${accountText(account)}`);
  return `{${members.join(",")}}`;
}

function accountText({ balance, nonce, codeHash, code, storage }: ShownAccount): string {
  const members: string[] = [];
  if (balance !== undefined) members.push(`"balance":"0x${balance.toString(16)}"`);
  if (nonce !== undefined && nonce !== 0n) members.push(`"nonce":${nonce}`);
  if (code !== undefined) members.push(`"code":"${bytesToHex(code)}"`);
  if (codeHash !== undefined) members.push(`"codeHash":"${codeHash}"`);
  if (storage.size > 0) {
    const slots = [...storage].map(([slot, value]) => `"${slot}":"${hashFromBigint(value)}"`);
    members.push(`"storage":{${slots.join(",")}}`);
  }
  return `{${members.join(",")}}`;
}
