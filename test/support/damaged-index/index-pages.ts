import { closeSync, fstatSync, openSync, readSync, statSync, utimesSync, writeSync } from "node:fs";
import {
  BIG_DATA,
  META_OFFSET,
  NO_PAGE,
  NODE_HEADER,
  PAGE_HEADER,
  PAGE_KIND,
  PAGE_SIZE,
  TREE_OFFSET,
} from "../../../src/store/storage/lmdb/lmdb-pages.ts";
import { TABLE } from "../../../src/store/storage/schema.ts";

export const DAMAGES = ["flip", "zero", "hide"] as const;
/** What becomes of a page: a bit of a row or of a page's number changes, all of it is zero, or a row is not found any more. */
export type Damage = (typeof DAMAGES)[number];

/** The kind of an LMDB page: `branch`, say, or `leaf account` if it has rows of that table. */
export type PageKind = string;

export type PageWrite = { readonly at: number; readonly hex: string };

const TABLE_NAMES = new Map<number, string>(Object.entries(TABLE).map(([name, prefix]) => [prefix, name]));

/** The used pages of an index file without writer, by kind. */
export class IndexPages {
  readonly #file: Buffer;
  readonly #pages = new Map<PageKind, number[]>();

  constructor(path: string) {
    this.#file = readWhole(path);
    const meta = this.#transactionOf(0) > this.#transactionOf(1) ? 0 : PAGE_SIZE;
    this.#add("meta", meta / PAGE_SIZE);
    this.#walk(meta + META_OFFSET.freeTree, "free ");
    this.#walk(meta + META_OFFSET.mainTree, "");
  }

  get kinds(): readonly PageKind[] {
    return [...this.#pages.keys()].sort();
  }

  /** Damages a page of `kind`; undefined where it can have no such damage. @param below a random number */
  damage(kind: PageKind, damage: Damage, below: (limit: number) => number): PageWrite | undefined {
    const pages = this.#pages.get(kind)!;
    const number = pages[below(pages.length)]!;
    const page = Buffer.from(this.#page(number));
    if (damage === "zero") page.fill(0);
    else if (damage === "flip") flip(page, kind, below);
    else if (kind === "meta" || kind.endsWith("overflow") || !hide(page, nodeOf(page, kind, below))) return undefined;
    return { at: number * PAGE_SIZE, hex: page.toString("hex") };
  }

  /** Every leaf without the rows that have `bytes` in their key, as older versions of these pages could be. */
  withoutRowsOf(bytes: Uint8Array): PageWrite[] {
    const part = Buffer.from(bytes);
    const leaves = new Set([...this.#pages].flatMap(([kind, pages]) => (kind.startsWith("leaf ") ? pages : [])));
    return [...leaves].flatMap((number) => {
      const page = Buffer.from(this.#page(number));
      const before = nodesIn(page);
      for (let index = before - 1; index >= 0; index--) if (keyIn(page, index).includes(part)) hide(page, index);
      return nodesIn(page) === before ? [] : [{ at: number * PAGE_SIZE, hex: page.toString("hex") }];
    });
  }

  #walk(tree: number, name: string): void {
    const root = this.#file.readBigUInt64LE(tree + TREE_OFFSET.root);
    if (root !== NO_PAGE) this.#visit(Number(root), name);
  }

  #visit(number: number, tree: string): void {
    const page = this.#page(number);
    if ((page.readUInt16LE(18) & PAGE_KIND.branch) !== 0) {
      this.#add(`${tree}branch`, number);
      for (let index = 0; index < nodesIn(page); index++) this.#visit(page.readUIntLE(nodeAt(page, index), 6), tree);
      return;
    }
    const names = tablesIn(page).map((table) => (tree === "" ? ` ${TABLE_NAMES.get(table)}` : ""));
    for (const name of new Set(names)) this.#add(`${tree}leaf${name}`, number);
    for (let index = 0; index < nodesIn(page); index++) {
      const at = nodeAt(page, index);
      if ((page.readUInt16LE(at + 4) & BIG_DATA) === 0) continue;
      this.#add(`${tree}overflow`, page.readUInt32LE(at + NODE_HEADER + page.readUInt16LE(at + 6)));
    }
  }

  #add(kind: PageKind, number: number): void {
    this.#pages.set(kind, [...(this.#pages.get(kind) ?? []), number]);
  }

  #page(number: number): Buffer {
    return this.#file.subarray(number * PAGE_SIZE, (number + 1) * PAGE_SIZE);
  }

  #transactionOf(meta: 0 | 1): bigint {
    return this.#file.readBigUInt64LE(meta * PAGE_SIZE + META_OFFSET.transaction);
  }
}

/** Changes the file as its medium does, without a trace in the file system. */
export function rot(path: string, writes: readonly PageWrite[]): void {
  const seconds = (Number(statSync(path, { bigint: true }).mtimeMs) + 0.5) / 1_000;
  const file = openSync(path, "r+");
  for (const { at, hex } of writes) writeSync(file, Buffer.from(hex, "hex"), 0, hex.length / 2, at);
  closeSync(file);
  utimesSync(path, seconds, seconds);
}

/** In a place that somebody reads. */
function flip(page: Buffer, kind: PageKind, below: (limit: number) => number): void {
  const [from, length] = flippable(page, kind, below);
  page[from + below(length)]! ^= 1 << below(8);
}

function flippable(page: Buffer, kind: PageKind, below: (limit: number) => number): readonly [number, number] {
  if (kind === "meta") return [META_OFFSET.mainTree + TREE_OFFSET.branches, 24];
  if (kind.endsWith("overflow")) return [PAGE_HEADER, 64];
  const at = nodeAt(page, nodeOf(page, kind, below));
  // The number of a child's page, or the key of a row.
  return kind.endsWith("branch") ? [at, 3] : [at + NODE_HEADER, page.readUInt16LE(at + 6)];
}

/** False where the page would have no row any more, which LMDB never leaves. */
function hide(page: Buffer, index: number): boolean {
  const count = nodesIn(page);
  if (count < 2) return false;
  const at = PAGE_HEADER + index * 2;
  page.copyWithin(at, at + 2, PAGE_HEADER + count * 2);
  page.writeUInt16LE((count - 1) * 2, 20);
  return true;
}

function nodesIn(page: Buffer): number {
  return page.readUInt16LE(20) / 2;
}

/** A row of the table that `kind` names, or any. */
function nodeOf(page: Buffer, kind: PageKind, below: (limit: number) => number): number {
  const nodes = tablesIn(page).flatMap((table, i) => (kind === `leaf ${TABLE_NAMES.get(table)}` ? [i] : []));
  return nodes.length === 0 ? below(nodesIn(page)) : nodes[below(nodes.length)]!;
}

function tablesIn(page: Buffer): number[] {
  return Array.from({ length: nodesIn(page) }, (_, index) => keyIn(page, index)[0]!);
}

function nodeAt(page: Buffer, index: number): number {
  return PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + index * 2);
}

function keyIn(page: Buffer, index: number): Buffer {
  const at = nodeAt(page, index);
  return page.subarray(at + NODE_HEADER, at + NODE_HEADER + page.readUInt16LE(at + 6));
}

function readWhole(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(fstatSync(file).size);
    readSync(file, bytes, 0, bytes.length, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}
