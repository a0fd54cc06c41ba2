import type { SyncProgress } from "../ports/node.ts";
import { quantityText } from "./write.ts";

/** JSON text of how far the node has come. */
export function syncProgressText(progress: SyncProgress): string {
  const members = Object.entries(progress).map(([key, value]) => `"${key}":${quantityText(value)}`);
  return `{${members.join(",")}}`;
}
