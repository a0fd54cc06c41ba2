import type { SizeOfKind } from "../../../chain/inspect/state-size.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { json, optional } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `debug_stateSize`: accounts, slots, trie nodes and codes of the state after a block (the newest unless given), with the bytes they
 * take in geth's database. geth counts along from its start; here the state is walked, within the time of a trace.
 *
 * @throws UnknownBlockError, StatePrunedError, TracingTimeoutError
 */
export const stateSize = defineMethod({
  name: "debug_stateSize",
  params: { block: optional(blockSelector) },
  result: json,
  heavy: true,
  handle: (
    { block = "latest" },
    { inspection }: { inspection: Pick<InspectionPort, "stateSize"> },
  ) =>
    andThen(
      inspection.stateSize(block),
      ({ root, number, accounts, slots, accountNodes, storageNodes, codes }) => ({
        stateRoot: root,
        blockNumber: toQuantity(number),
        ...sizeOf("accounts", "accountBytes", accounts),
        ...sizeOf("storages", "storageBytes", slots),
        ...sizeOf("accountTrienodes", "accountTrienodeBytes", accountNodes),
        ...sizeOf("storageTrienodes", "storageTrienodeBytes", storageNodes),
        ...sizeOf("contractCodes", "contractCodeBytes", codes),
      }),
    ),
});

function sizeOf(countName: string, bytesName: string, { count, bytes }: SizeOfKind) {
  return { [countName]: toQuantity(count), [bytesName]: toQuantity(bytes) };
}
