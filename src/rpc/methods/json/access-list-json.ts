import { hashFromBigint } from "../../../base/primitives/hash.ts";
import type { AccountAccess, IndexedCode, IndexedValue, SlotChanges } from "../../../base/types/block-access-list.ts";
import { dataText, plainListText, quantityText } from "./write.ts";

/** JSON text of what a block accessed of an account (EIP-7928), as execution-apis has it: keys and values of slots are words, all else quantities. */
export function accountAccessText(account: AccountAccess): string {
  return (
    `{"address":"${account.address}","storageChanges":[${account.storageChanges.map(slotText).join(",")}]` +
    `,"storageReads":${plainListText(account.storageReads)}` +
    `,"balanceChanges":${listText(account.balanceChanges, valueText)}` +
    `,"nonceChanges":${listText(account.nonceChanges, valueText)}` +
    `,"codeChanges":${listText(account.codeChanges, codeText)}}`
  );
}

function slotText({ slot, changes }: SlotChanges): string {
  return `{"key":"${slot}","changes":${listText(changes, wordText)}}`;
}

function listText<T extends { readonly index: number }>(entries: readonly T[], textOf: (entry: T) => string): string {
  return `[${entries.map((entry) => `{"index":${quantityText(entry.index)},${textOf(entry)}}`).join(",")}]`;
}

const wordText = ({ value }: IndexedValue) => `"value":"${hashFromBigint(value)}"`;
const valueText = ({ value }: IndexedValue) => `"value":${quantityText(value)}`;
const codeText = ({ code }: IndexedCode) => `"code":${dataText(code)}`;
