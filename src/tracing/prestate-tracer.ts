import { createAddress } from "../evm/create-address.ts";
import { authorityOf } from "../execution/transaction/authorizations.ts";
import { delegationTarget } from "../execution/transaction/delegation.ts";
import type { Address } from "../primitives/address.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH, isEmptyAccount } from "../state/account.ts";
import type { AccountChange, StateChanges, StateReader } from "../state/reader.ts";
import { InvalidTracerError } from "./errors.ts";
import type { TracedTransaction, TracerConfig, TracerFactory } from "./transaction-tracer.ts";

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

/**
 * `prestateTracer`: every account and slot the transaction touched, as it was before; with `diffMode` only what changed, before
 * and after.
 */
export const prestateTracer: TracerFactory = (config, traced) => {
  const options = readOptions(config);
  const touched = new Map<Address, Set<Hash>>();
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
      onEnter({ type, from, to }) {
        if (type === "CREATE" || type === "CREATE2") touch(from);
        touch(to);
        touchDelegate(to);
      },
      onAccess(address, slot) {
        const slots = touch(address);
        if (slot !== null) slots.add(slot);
      },
    },
    result({ changes }) {
      if (options.diffMode) return diffText(touched, changes, traced.state, options);
      const shown: [Address, ShownAccount][] = [];
      for (const [address, slots] of touched) {
        const account = traced.state.account(address) ?? EMPTY_ACCOUNT;
        if (isEmptyAccount(account) && !options.includeEmpty) continue;
        shown.push([address, accountBefore(address, account, slots, traced.state, options)]);
      }
      return stateText(shown);
    },
  };

  /** A delegated account runs the code of another, which is looked at then (EIP-7702). */
  function touchDelegate(address: Address): void {
    const target = delegateOf(traced.state, address);
    if (target) touch(target);
  }
};

function readOptions(config: TracerConfig): Options {
  const isSet = (name: string) => config[name] === true;
  const options = {
    diffMode: isSet("diffMode"),
    disableCode: isSet("disableCode"),
    disableStorage: isSet("disableStorage"),
    includeEmpty: isSet("includeEmpty"),
  };
  if (options.diffMode && options.includeEmpty) {
    throw new InvalidTracerError("cannot use diffMode with includeEmpty");
  }
  return options;
}

/** The accounts a transaction touches whatever its code does. */
function accountsOf({ message, block, state }: TracedTransaction): readonly Address[] {
  const { from, to, authorizationList = [] } = message;
  const nonce = (state.account(from) ?? EMPTY_ACCOUNT).nonce;
  const target = to ?? createAddress(from, nonce);
  const authorities = authorizationList.flatMap(
    (authorization) => authorityOf(authorization, block.chainId) ?? [],
  );
  const all = [from, target, block.coinbase, ...authorities];
  return [...all, ...all.flatMap((address) => delegateOf(state, address) ?? [])];
}

function delegateOf(state: StateReader, address: Address): Address | undefined {
  const account = state.account(address);
  return account && delegationTarget(state.code(account.codeHash));
}

function accountBefore(
  address: Address,
  { balance, nonce, codeHash }: Account,
  slots: Iterable<Hash>,
  state: StateReader,
  options: Options,
): ShownAccount {
  const storage = new Map<Hash, bigint>();
  if (!options.disableStorage) {
    for (const slot of slots) storage.set(slot, state.storage(address, slot));
  }
  const hasCode = codeHash !== EMPTY_CODE_HASH;
  return {
    balance,
    ...(nonce !== 0n && { nonce }),
    ...(hasCode && { codeHash }),
    ...(hasCode && !options.disableCode && { code: state.code(codeHash) }),
    storage,
  };
}

/** `{pre, post}` of what the transaction changed: `post` has the changed members, a deleted account is only in `pre`. */
function diffText(
  touched: ReadonlyMap<Address, ReadonlySet<Hash>>,
  changes: StateChanges,
  before: StateReader,
  options: Options,
): string {
  const pre: [Address, ShownAccount][] = [];
  const post: [Address, ShownAccount][] = [];
  const changed = new Map(changes.accounts.map((change) => [change.address, change]));
  // In the order in which they were touched; nothing changes that was not.
  for (const address of touched.keys()) {
    const change = changed.get(address);
    if (!change) continue;
    const account = before.account(address);
    const slots = slotsBefore(change, before);
    if (account && !isEmptyAccount(account)) {
      pre.push([address, accountBefore(address, account, slots, before, options)]);
    }
    if (change.account) {
      post.push([address, accountAfter(change, account ?? EMPTY_ACCOUNT, changes, options)]);
    }
  }
  return `{"post":${stateText(post)},"pre":${stateText(pre)}}`;
}

/** Changed slots that held something. */
function slotsBefore({ address, storage }: AccountChange, before: StateReader): readonly Hash[] {
  return [...storage.keys()].filter((slot) => before.storage(address, slot) !== 0n);
}

function accountAfter(
  { account, storage }: AccountChange,
  before: Account,
  { codes }: StateChanges,
  { disableCode, disableStorage }: Options,
): ShownAccount {
  const { balance, nonce, codeHash } = account!;
  const hasNewCode = codeHash !== before.codeHash;
  const written = [...storage].filter(([, value]) => value !== 0n);
  return {
    ...(balance !== before.balance && { balance }),
    ...(nonce !== before.nonce && { nonce }),
    ...(hasNewCode && { codeHash }),
    ...(hasNewCode && !disableCode && { code: codes.get(codeHash) ?? new Uint8Array(0) }),
    storage: new Map(disableStorage ? [] : written),
  };
}

function stateText(accounts: readonly (readonly [Address, ShownAccount])[]): string {
  const members = accounts.map(([address, account]) => `"${address}":${accountText(account)}`);
  return `{${members.join(",")}}`;
}

function accountText({ balance, nonce, codeHash, code, storage }: ShownAccount): string {
  const members: string[] = [];
  if (balance !== undefined) members.push(`"balance":"0x${balance.toString(16)}"`);
  if (nonce !== undefined) members.push(`"nonce":${nonce}`);
  if (code !== undefined) members.push(`"code":"${bytesToHex(code)}"`);
  if (codeHash !== undefined) members.push(`"codeHash":"${codeHash}"`);
  if (storage.size > 0) {
    const slots = [...storage].map(([slot, value]) => `"${slot}":"${hashFromBigint(value)}"`);
    members.push(`"storage":{${slots.join(",")}}`);
  }
  return `{${members.join(",")}}`;
}
