import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import {
  BIG_DATA,
  META_OFFSET,
  NODE_HEADER,
  PAGE_HEADER,
  PAGE_KIND,
  PAGE_SIZE,
  TREE_OFFSET,
} from "../../src/store/storage/lmdb/lmdb-pages.ts";
import { TABLE } from "../../src/store/storage/schema.ts";
import { printTable, writeResult } from "../support/report.ts";
import { createTransferChain } from "./transfer-chain.ts";

const BLOCKS_BEFORE = 1_000;

/**
 * `npm run bench -- index-growth [TRANSFERS] [BLOCKS] [ACCOUNTS]`: bytes that blocks of so many transfers add to each table of an archive's index: pages, with
 * their free space, and rows. Blocks before those that are measured fill the pages.
 */
export async function run(args: readonly string[]): Promise<void> {
  const [transfers = 90, blocks = 4_000, accounts = 5_000] = args.map(Number);
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const before = grow(directory, { transfers, blocks: BLOCKS_BEFORE, accounts });
    const after = grow(directory, { transfers, blocks, accounts });
    const count = Math.max(1, transfers) * blocks;
    const rows = [...after].map(([table, { pages, bytes, rows }]) => {
      const old = before.get(table) ?? NOTHING;
      return {
        table,
        rows: (rows - old.rows) / count,
        "bytes of rows": (bytes - old.bytes) / count,
        "bytes of pages": ((pages - old.pages) * PAGE_SIZE) / count,
      };
    });
    printTable(rows);
    writeResult("index-growth", rows, { transfers, blocks, accounts });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

type Share = { readonly rows: number; readonly bytes: number; readonly pages: number };
const NOTHING: Share = { rows: 0, bytes: 0, pages: 0 };

/** Adds blocks to the store; what its index holds then by table. */
function grow(
  directory: string,
  { transfers, blocks, accounts }: { readonly transfers: number; readonly blocks: number; readonly accounts: number },
): ReadonlyMap<string, Share> {
  const store = openDiskBlockStore({ directory, createTrie: createStateTrie, defer: deferNothing });
  const head = store.head();
  const chain = createTransferChain(
    accounts,
    createStateTrie(store.trieNodes),
    head === undefined ? undefined : store.header(head),
  );
  const append = ({ record, nodes }: ReturnType<typeof chain.genesis>) => store.append(record, nodes);
  if (head === undefined) append(chain.genesis());
  for (let i = 0; i < blocks; i++) append(chain.transfers(transfers));
  store.close();
  return sharesOf(join(directory, "index", "data.mdb"));
}

function sharesOf(path: string): ReadonlyMap<string, Share> {
  const file = readFileSync(path);
  const page = (number: number) => file.subarray(number * PAGE_SIZE, (number + 1) * PAGE_SIZE);
  const metas = [page(0), page(1)];
  const newest = metas.toSorted((a, b) =>
    Number(b.readBigUInt64LE(META_OFFSET.transaction) - a.readBigUInt64LE(META_OFFSET.transaction)),
  )[0]!;
  const names = new Map<number, string>(Object.entries(TABLE).map(([name, prefix]) => [prefix, name]));
  const shares = new Map<string, Share>();
  const add = (name: string, share: Partial<Share>) => {
    const old = shares.get(name) ?? NOTHING;
    const [rows, bytes, pages] = (["rows", "bytes", "pages"] as const).map((of) => old[of] + (share[of] ?? 0));
    shares.set(name, { rows: rows!, bytes: bytes!, pages: pages! });
  };
  const visit = (number: number): void => {
    const content = page(number);
    const count = content.readUInt16LE(20) / 2;
    const offsets = Array.from({ length: count }, (_, i) => PAGE_HEADER + content.readUInt16LE(PAGE_HEADER + i * 2));
    if ((content.readUInt16LE(18) & PAGE_KIND.branch) !== 0) {
      add("branches", { pages: 1 });
      for (const at of offsets) visit(content.readUIntLE(at, 6));
      return;
    }
    for (const at of offsets) {
      const name = names.get(content[at + NODE_HEADER]!)!;
      const length = content.readUInt32LE(at);
      const isBig = (content.readUInt16LE(at + 4) & BIG_DATA) !== 0;
      const overflow = isBig ? Math.ceil((length + PAGE_HEADER) / PAGE_SIZE) : 0;
      const bytes = NODE_HEADER + 2 + content.readUInt16LE(at + 6) + length;
      add(name, { rows: 1, bytes, pages: 1 / count + overflow });
    }
  };
  visit(Number(newest.readBigUInt64LE(META_OFFSET.mainTree + TREE_OFFSET.root)));
  const used = [...shares.values()].reduce((sum, { pages }) => sum + pages, 0);
  add("free", { pages: statSync(path).size / PAGE_SIZE - used });
  const all = [...shares.values()];
  add("all", {
    rows: all.reduce((sum, { rows }) => sum + rows, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    pages: all.reduce((sum, { pages }) => sum + pages, 0),
  });
  return shares;
}
