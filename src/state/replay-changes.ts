import type { StateChanges } from "./reader.ts";
import type { WorldState } from "./world-state.ts";

/** Applies `changes` to `state`. */
export function replayChanges({ accounts, codes }: StateChanges, state: WorldState): void {
  for (const code of codes.values()) state.putCode(code);
  for (const { address, account, storage, storageCleared } of accounts) {
    if (storageCleared) state.deleteAccount(address);
    if (account === null) continue;
    state.setAccount(address, account);
    for (const [slot, value] of storage) state.setStorage(address, slot, value);
  }
  state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
}
