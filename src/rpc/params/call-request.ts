import { type Address, ZERO_ADDRESS } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Withdrawal } from "../../types/block.ts";
import type {
  AccessList,
  AccessListEntry,
  Authorization,
} from "../../types/transaction/transaction.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
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
  schemaOf,
} from "./codec.ts";

const accessListEntry = required(
  "AccessTuple",
  object(
    "AccessTuple",
    { address, storageKeys: array(hash, "[]common.Hash") },
    "types.AccessTuple",
    "own",
  ),
  ["address", "storageKeys"],
) as ParamCodec<AccessListEntry>;

const authorization = required(
  "SetCodeAuthorization",
  object(
    "SetCodeAuthorization",
    {
      chainId: quantity256,
      address,
      nonce: quantity64,
      yParity: quantity64,
      r: quantity256,
      s: quantity256,
    },
    "types.SetCodeAuthorization",
    "own",
  ),
  ["chainId", "address", "nonce", "yParity", "r", "s"],
) as ParamCodec<Authorization>;

export const accessList: ParamCodec<AccessList> = array(accessListEntry, "types.AccessList");

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

/** A transaction or call as a caller describes it: every field may be missing. */
export type CallRequest = ObjectOf<typeof members>;

/** The argument object of `eth_call`, `eth_sendTransaction` and their kin. `gasLimit` is taken for `gas`, as some tools send it. */
export const callRequest: ParamCodec<CallRequest> = withAlias(object("TransactionArgs", members));

/** Calldata or init code of `request`: `input` wins over its older name `data`. */
export function calldataOf({ input, data }: CallRequest): Uint8Array | undefined {
  return input ?? data;
}

const storageMap: ParamCodec<ReadonlyMap<Hash, Hash>> = {
  schema: { type: "object", additionalProperties: hash.schema },
  decode: (value, field) =>
    decodeMap(value, field, "map[common.Hash]common.Hash", hash, "Hash", (word) =>
      hash.decode(word),
    ),
};

const accountOverrideMembers = {
  nonce: quantity64,
  code: data,
  balance: quantity,
  state: storageMap,
  stateDiff: storageMap,
  movePrecompileToAddress: address,
} as const;

/** What a call takes an account to be, in place of what the state says. `state` replaces all slots, `stateDiff` some. */
export type AccountOverride = ObjectOf<typeof accountOverrideMembers>;

const accountOverride = object(
  "OverrideAccount",
  accountOverrideMembers,
  "override.OverrideAccount",
);

export type StateOverrides = ReadonlyMap<Address, AccountOverride>;

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

/** A withdrawal (EIP-4895); what is left out is 0. */
export const withdrawal: ParamCodec<Withdrawal> = {
  ...schemaOf(withdrawalMembers),
  decode: (value, field) => ({
    ...{ index: 0n, validatorIndex: 0n, address: ZERO_ADDRESS, amount: 0n },
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

/** What a call takes its block to be. */
export type BlockOverrides = ObjectOf<typeof blockOverrideMembers>;

export const blockOverrides: ParamCodec<BlockOverrides> = object(
  "BlockOverrides",
  blockOverrideMembers,
  "override.BlockOverrides",
  "fields",
);

function decodeMap<K, V>(
  value: unknown,
  field: string | undefined,
  goType: string,
  key: ParamCodec<K>,
  keyName: string,
  decode: (value: unknown) => V,
): ReadonlyMap<K, V> {
  object("", {}, goType).decode(value, field);
  return new Map(
    Object.entries((value ?? {}) as object).map(([name, entry]) => [
      decodeKey(key, name, keyName),
      decode(entry),
    ]),
  );
}

/** A key's own type is named without its package when it has the wrong length. */
function decodeKey<K>(codec: ParamCodec<K>, key: string, name: string): K {
  try {
    return codec.decode(key);
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    throw new InvalidValueError(error.message.replace(/ for common\.\w+$/, ` for ${name}`));
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

function withAlias(codec: ParamCodec<CallRequest>): ParamCodec<CallRequest> {
  return {
    ...schemaOf(codec),
    decode(value, field) {
      const request = codec.decode(value, field);
      const gasLimit = (value as { gasLimit?: unknown } | null)?.gasLimit;
      if (request.gas !== undefined || gasLimit === undefined || gasLimit === null) return request;
      return { ...request, gas: quantity64.decode(gasLimit, "TransactionArgs.gasLimit") };
    },
  };
}
