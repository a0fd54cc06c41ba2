import type { ExecutionWitness } from "../../../chain/inspect/execution-witness.ts";
import { headerHash } from "../../../types/header-codec.ts";
import { headerText } from "../json/block-json.ts";

/** JSON text of a witness, as geth writes it: its `keys` is null. */
export function witnessText({ headers, codes, nodes }: ExecutionWitness): string {
  const style = { nullPowFields: false };
  const shown = headers.map((header) => headerText({ hash: headerHash(header), header }, style));
  return `{"headers":[${shown.join(",")}],"codes":${bytesList(codes)},"state":${bytesList(nodes)},"keys":null}`;
}

function bytesList(items: readonly Uint8Array[]): string {
  return `[${items.map((item) => `"0x${Buffer.from(item).toString("hex")}"`).join(",")}]`;
}
