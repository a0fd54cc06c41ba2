import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Genesis } from "../../../base/params/genesis.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, parseHash } from "../../../base/primitives/hash.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import type { BlockRecord } from "../../../chain/block-store.ts";
import type { StatelessBlocks } from "../../../chain/store/stateless-blocks.ts";
import { changesOfEdits } from "../../../dev/dev-state.ts";
import { withBlobPrices } from "../../../dev/dumped-blocks.ts";
import { aliasRoot } from "../../../dev/fork/forked-state.ts";
import type { LoadedState } from "../../../dev/state-dump.ts";
import type { StateChanges, StateReader } from "../../../evm/state/reader.ts";
import { createStateTrie, type StateTrie } from "../../../evm/state/state-trie.ts";
import { makeFolder, syncDirectory } from "../../../store/storage/make-folder.ts";
import { readJsonFile } from "../../../store/storage/read-file.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { loadedStatePath, pendingStatePath } from "../../config/home.ts";

/** The names of a chain's first blocks that came from a dump, without the states between them. */
export type LoadedBase = {
  readonly stateless: StatelessBlocks;
  /** Makes state tries report the root of the last block's header for the dump's state. */
  readonly aliasRoot: (trie: StateTrie) => StateTrie;
};

const NO_CHANGES: StateChanges = { accounts: [], codes: new Map() };
const EMPTY_STATE: StateReader = {
  account: () => undefined,
  storage: () => 0n,
  code: () => EMPTY_BYTES,
  storageEntries: () => [],
};

/** The chain of a dump over the accounts of `genesis`: its records, and data for its store. */
export function loadedChain(
  { edits, blocks }: LoadedState,
  { alloc, config }: Genesis,
): LoadedBase & { readonly records: readonly BlockRecord[]; readonly storedRoot: Hash } {
  const accounts = [...alloc].map(([address, { storage, ...account }]) => ({
    address,
    ...account,
    ...(storage && { storage: new Map(storage) }),
  }));
  const changes = changesOfEdits([...accounts, ...edits], EMPTY_STATE);
  const records = blocks.map((block, index) => ({
    ...withBlobPrices(block, config),
    changes: index === 0 ? changes : NO_CHANGES,
    consensusData: EMPTY_BYTES,
  }));
  const { number: last, stateRoot } = blocks.at(-1)!.block.header;
  const { root: storedRoot } = createStateTrie({ node: () => undefined }).update(EMPTY_TRIE_ROOT, changes);
  return { ...baseOf({ last, stateRoot }, storedRoot), records, storedRoot };
}

function baseOf(stateless: StatelessBlocks, storedRoot: Hash): LoadedBase {
  return { stateless, aliasRoot: (trie) => aliasRoot(trie, storedRoot, stateless.stateRoot) };
}

/** The base that `storeLoadedBase` stored in the home; undefined if the chain did not begin with a dump. */
export function storedLoadedBase(home: string): LoadedBase | undefined {
  const path = loadedStatePath(home);
  if (!existsSync(path)) return undefined;
  const { last, stateRoot, storedRoot } = readJsonFile(path, { bytesMax: 4096 }) as Record<string, unknown>;
  return baseOf({ last: Number(last), stateRoot: parseHash(String(stateRoot)) }, parseHash(String(storedRoot)));
}

export function storeLoadedBase(home: string, { last, stateRoot }: StatelessBlocks, storedRoot: Hash): void {
  replaceFile(loadedStatePath(home), `${JSON.stringify({ last, stateRoot, storedRoot })}\n`, 0o600);
}

/** Makes the dump in `bytes` the chain of `home` from its next start on; a later crash does not undo this. */
export function beginLoading(home: string, bytes: Uint8Array): void {
  makeFolder(dirname(pendingStatePath(home)));
  replaceFile(pendingStatePath(home), bytes, 0o600);
}

/** Marks the chain of the dump as complete. */
export function finishLoading(home: string): void {
  rmSync(pendingStatePath(home), { force: true });
  syncDirectory(dirname(pendingStatePath(home)));
}
