import {
  type AccountAccess,
  type BlockAccessList,
  blockAccessListHash,
  type IndexedValue,
} from "../../../base/types/block-access-list.ts";
import type { Header } from "../../../base/types/header.ts";
import {
  addressOf,
  bigintOf,
  bytesOf,
  compare,
  hashOf,
  type Json,
  listOf,
  numberOf,
  objectOf,
  type Verdict,
  verdictOf,
} from "./verdict.ts";

/** The access list in an answer of `eth_getBlockAccessList`. @throws InvalidHexError */
export function accessListOf(json: unknown): BlockAccessList {
  return listOf(json).map((each) => accountOf(objectOf(each)));
}

/** Whether the block's header commits to `list` (EIP-7928). */
export function checkAccessList(header: Pick<Header, "blockAccessListHash">, list: BlockAccessList): Verdict {
  return verdictOf(() => compare("access list hash", header.blockAccessListHash, blockAccessListHash(list)));
}

function accountOf(json: Json): AccountAccess {
  return {
    address: addressOf(json["address"]),
    storageChanges: objectsIn(json["storageChanges"]).map(({ key, changes }) => ({
      slot: hashOf(key),
      changes: objectsIn(changes).map(changeOf),
    })),
    storageReads: listOf(json["storageReads"]).map(hashOf),
    balanceChanges: objectsIn(json["balanceChanges"]).map(changeOf),
    nonceChanges: objectsIn(json["nonceChanges"]).map(changeOf),
    codeChanges: objectsIn(json["codeChanges"]).map(({ index, code }) => ({
      index: numberOf(index),
      code: bytesOf(code),
    })),
  };
}

function objectsIn(value: unknown): readonly Json[] {
  return listOf(value).map(objectOf);
}

function changeOf({ index, value }: Json): IndexedValue {
  return { index: numberOf(index), value: bigintOf(value) };
}
