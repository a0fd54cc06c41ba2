import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import type { ExecutionWitness } from "../../../chain/inspect/execution-witness.ts";
import { absentMembers, headerMembers } from "../json/block-json.ts";

/** JSON text of a witness, as geth writes it: its headers, which come from the parent backwards, begin with the oldest, its `keys` is null, and so is what a header lacks. */
export function witnessText({ headers, codes, nodes }: ExecutionWitness): string {
  return `{"headers":[${headers.toReversed().map(headerText).join(",")}],"codes":${bytesList(codes)},"state":${bytesList(nodes)},"keys":null}`;
}

function headerText(header: Header): string {
  const members = headerMembers(header, headerHash(header), { nullPowFields: false });
  return `{${members}${absentMembers(header)}}`;
}

function bytesList(items: readonly Uint8Array[]): string {
  return `[${items.map((item) => `"0x${Buffer.from(item).toString("hex")}"`).join(",")}]`;
}
