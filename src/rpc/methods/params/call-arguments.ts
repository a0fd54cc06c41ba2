import { checksumAddress, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { Withdrawal } from "../../../base/types/block.ts";
import type { AccessList, AccessListEntry, Authorization } from "../../../base/types/transaction/transaction.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import type { CallArgumentsBundle } from "../../../evm/execution/call/call-many.ts";
import type { AccountOverride, BlockOverrides, StateOverrides } from "../../../evm/execution/call/overrides.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import {
  address,
  array,
  data,
  fixedData,
  hash,
  type ObjectOf,
  object,
  type ParamCodec,
  quantity,
  quantity64,
  quantity256,
  quantityNumber,
  schemaOf,
} from "../../transport/codec.ts";
import { InvalidValueError, LimitExceededError } from "../../transport/errors.ts";

const accessListEntry = required(
  "AccessTuple",
  object("AccessTuple", { address, storageKeys: array(hash, "[]common.Hash") }, "types.AccessTuple", "own"),
  ["address", "storageKeys"],
) as ParamCodec<AccessListEntry>;

const yParity: ParamCodec<bigint> = {
  ...schemaOf(quantity64),
  decode(value, field) {
    const parity = quantity64.decode(value, field);
    if (parity > 1n) throw new InvalidValueError("'yParity' field must be 0 or 1");
    return parity;
  },
};

const authorization = required(
  "SetCodeAuthorization",
  object(
    "SetCodeAuthorization",
    {
      chainId: quantity256,
      address,
      nonce: quantity64,
      yParity,
      r: quantity256,
      s: quantity256,
    },
    "types.SetCodeAuthorization",
    "own",
  ),
  ["chainId", "address", "nonce", "yParity", "r", "s"],
) as ParamCodec<Authorization>;

const accessList: ParamCodec<AccessList> = array(accessListEntry, "types.AccessList");

const members = {
  from: address,
  to: address,
  gas: quantity64,
  gasPrice: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  value: quantity,
  nonce: quantity64,
  data,
  input: data,
  accessList,
  chainId: quantity,
  maxFeePerBlobGas: quantity,
  blobVersionedHashes: array(hash, "[]common.Hash"),
  blobs: array(fixedData(131_072, "kzg4844.Blob"), "[]kzg4844.Blob"),
  commitments: array(fixedData(48, "kzg4844.Commitment"), "[]kzg4844.Commitment"),
  proofs: array(fixedData(48, "kzg4844.Proof"), "[]kzg4844.Proof"),
  authorizationList: array(authorization, "[]types.SetCodeAuthorization"),
} as const;

type TransactionArgs = ObjectOf<typeof members>;

/**
 * The argument object of `eth_call`, `eth_sendTransaction` and similar methods. `gasLimit` is an alias of `gas`, which some tools send.
 * All results have one shape: code that reads them stays monomorphic.
 */
export const callArguments = callArgumentsFrom(object("TransactionArgs", members));

/** The same in `eth_simulateV1`, whose errors name it by where it is. */
export const simulatedCall = callArgumentsFrom(object("TransactionArgs", members, "ethapi.TransactionArgs", "own"));

function callArgumentsFrom(transactionArgs: ParamCodec<TransactionArgs>): ParamCodec<CallArguments> {
  return {
    ...schemaOf(transactionArgs),
    decode(value, field) {
      const args = transactionArgs.decode(value, field);
      return {
        from: args.from,
        to: args.to,
        gas: args.gas ?? gasLimitOf(value),
        gasPrice: args.gasPrice,
        maxFeePerGas: args.maxFeePerGas,
        maxPriorityFeePerGas: args.maxPriorityFeePerGas,
        value: args.value,
        nonce: args.nonce,
        data: args.data,
        input: args.input,
        accessList: args.accessList,
        chainId: args.chainId,
        maxFeePerBlobGas: args.maxFeePerBlobGas,
        blobVersionedHashes: args.blobVersionedHashes,
        blobs: args.blobs,
        commitments: args.commitments,
        proofs: args.proofs,
        authorizationList: args.authorizationList,
      };
    },
  };
}

function gasLimitOf(value: unknown): bigint | undefined {
  const gasLimit = (value as { gasLimit?: unknown } | null)?.gasLimit;
  if (gasLimit === undefined || gasLimit === null) return undefined;
  return quantity64.decode(gasLimit, "TransactionArgs.gasLimit");
}

const storageMap: ParamCodec<ReadonlyMap<Hash, bigint>> = {
  schema: { type: "object", additionalProperties: hash.schema },
  decode: (value, field) =>
    decodeMap(value, field, "map[common.Hash]common.Hash", hash, "Hash", (word) => BigInt(hash.decode(word, field))),
};

const accountOverrideMembers = {
  nonce: quantity64,
  code: data,
  balance: quantity,
  state: storageMap,
  stateDiff: storageMap,
  movePrecompileToAddress: address,
} as const;

const accountOverride: ParamCodec<AccountOverride> = object(
  "OverrideAccount",
  accountOverrideMembers,
  "override.OverrideAccount",
);

/** `{address: override}`. */
export const stateOverrides: ParamCodec<StateOverrides> = {
  schema: { type: "object", additionalProperties: accountOverride.schema },
  decode(value, field) {
    return decodeMap(value, field, "override.StateOverride", address, "Address", (entry) =>
      accountOverride.decode(entry, field),
    );
  },
};

const withdrawalMembers = object(
  "Withdrawal",
  { index: quantity64, validatorIndex: quantity64, address, amount: quantity64 },
  "types.Withdrawal",
);

/** A withdrawal (EIP-4895); omitted fields are 0. */
export const withdrawal: ParamCodec<Withdrawal> = {
  ...schemaOf(withdrawalMembers),
  decode: (value, field) => ({
    index: 0n,
    validatorIndex: 0n,
    address: ZERO_ADDRESS,
    amount: 0n,
    ...withdrawalMembers.decode(value, field),
  }),
};

const blockOverrideMembers = {
  number: quantity,
  difficulty: quantity,
  time: quantity64,
  gasLimit: quantity64,
  feeRecipient: address,
  prevRandao: hash,
  baseFeePerGas: quantity,
  blobBaseFee: quantity,
  beaconRoot: hash,
  withdrawals: array(withdrawal, "types.Withdrawals"),
} as const;

/** The block that a call takes to be its own, where it differs from the real one. */
export const blockOverrides: ParamCodec<BlockOverrides> = object(
  "BlockOverrides",
  blockOverrideMembers,
  "override.BlockOverrides",
  "fields",
);

/** @throws InvalidValueError in geth's words */
function assertKnownKeys(value: unknown, members: object, what: string): void {
  if (!isJsonObject(value)) return;
  const names = new Set(Object.keys(members).map((name) => name.toLowerCase()));
  const seen = new Map<string, string>();
  for (const key of Object.keys(value).sort()) {
    const name = key.toLowerCase();
    if (!names.has(name)) throw new InvalidValueError(`unknown field ${JSON.stringify(key)} in ${what}`);
    const other = seen.get(name);
    if (other !== undefined) {
      throw new InvalidValueError(
        `keys ${JSON.stringify(other)} and ${JSON.stringify(key)} in ${what} name the same field`,
      );
    }
    seen.set(name, key);
  }
}

const ownBlockOverrides: ParamCodec<BlockOverrides> = object(
  "BlockOverrides",
  blockOverrideMembers,
  "override.BlockOverrides",
  "ownFields",
);

/**
 * Like `blockOverrides`, for `eth_simulateV1`, which rejects unknown fields: a misspelt name would give a result as if nothing was
 * overridden.
 */
export const simulatedBlockOverrides: ParamCodec<BlockOverrides> = {
  ...schemaOf(blockOverrides),
  decode(value, field) {
    assertKnownKeys(value, blockOverrideMembers, "block override");
    return ownBlockOverrides.decode(value, parentOf(field));
  },
};

const ownAccountOverride: ParamCodec<AccountOverride> = object(
  "OverrideAccount",
  accountOverrideMembers,
  "override.OverrideAccount",
  "own",
);

/** Like `stateOverrides`, for `eth_simulateV1`, which rejects unknown fields. */
export const simulatedStateOverrides: ParamCodec<StateOverrides> = {
  ...schemaOf(stateOverrides),
  decode: (value, field) =>
    decodeMap(value, field, "map[common.Address]json.RawMessage", address, "Address", (entry, account) => {
      assertKnownKeys(entry, accountOverrideMembers, `state override for ${checksumAddress(account)}`);
      return ownAccountOverride.decode(entry, parentOf(field));
    }),
};

/** geth decodes overrides separately, so errors name their members as members of the enclosing object. */
function parentOf(field: string | undefined): string | undefined {
  return field?.slice(0, field.lastIndexOf("."));
}

function decodeMap<K, V>(
  value: unknown,
  field: string | undefined,
  goType: string,
  key: ParamCodec<K>,
  keyName: string,
  decode: (value: unknown, key: K) => V,
): ReadonlyMap<K, V> {
  object("", {}, goType).decode(value, field);
  return new Map(
    Object.entries((value ?? {}) as object).map(([name, entry]) => {
      const decodedKey = decodeKey(key, name, { keyName, field });
      return [decodedKey, decode(entry, decodedKey)];
    }),
  );
}

/** A key's own type is named without its package when it has the wrong length. */
function decodeKey<K>(
  codec: ParamCodec<K>,
  key: string,
  { keyName, field }: { readonly keyName: string; readonly field: string | undefined },
): K {
  try {
    return codec.decode(key, field);
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    throw new InvalidValueError(error.message.replace(/ for common\.\w+$/, ` for ${keyName}`));
  }
}

function required<T extends object>(
  name: string,
  codec: ParamCodec<T>,
  keys: readonly (keyof T & string)[],
): ParamCodec<T> {
  return {
    schema: { ...codec.schema, required: keys },
    decode(value, field) {
      const decoded = codec.decode(value, field);
      for (const key of keys) {
        if (decoded[key] === undefined) {
          throw new InvalidValueError(`missing required field '${key}' for ${name}`);
        }
      }
      return decoded;
    },
  };
}

/** Calls of one request, as many as eth_simulateV1 takes. */
const CALLS_MAX = 10_000;

const bundles = array(object("Bundle", { transactions: array(callArguments), blockOverride: blockOverrides }));

/** Erigon's bundles of calls; @throws LimitExceededError for more calls than one request may hold */
export const callBundles: ParamCodec<readonly CallArgumentsBundle[]> = {
  ...schemaOf(bundles),
  decode(value, field) {
    const decoded = bundles.decode(value, field).map(({ transactions = [], blockOverride }) => ({
      calls: transactions,
      ...(blockOverride && { blockOverrides: blockOverride }),
    }));
    const count = decoded.reduce((sum, { calls }) => sum + calls.length, 0);
    if (count > CALLS_MAX) throw new LimitExceededError(`too many calls: ${count} > ${CALLS_MAX}`);
    return decoded;
  },
};

/** A position in a block; −1 is after all of them. */
const transactionIndex: ParamCodec<number | undefined> = {
  schema: { oneOf: [{ type: "integer" }, quantityNumber.schema] },
  decode(value, field) {
    if (value === -1) return undefined;
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
      ? value
      : quantityNumber.decode(value, field);
  },
};

/** The state that bundles run on: after a block, or before one of its transactions. */
export const stateContext = object("StateContext", {
  blockNumber: blockSelector,
  transactionIndex,
});
