import { FileContent } from "./file-content.ts";
import type { Random } from "./random.ts";

/** A call of the file system failed; `code` is that of the operating system. */
export class FileError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;
  constructor(code: string, syscall: string, path: string) {
    super(`${code}: ${syscall} '${path}'`);
    this.code = code;
    this.syscall = syscall;
    this.path = path;
  }
}

export class FileNode {
  readonly kind = "file";
  readonly inode: number;
  content = new FileContent();
  mode: number;
  modifiedMs = 0;
  /** Descriptors on it, and whether a folder names it: without both its space is free. */
  openCount = 0;
  isLinked = true;
  /** What a program holds of the file in mapped memory (a store of rows). */
  mapped: MappedFile | undefined;

  constructor(inode: number, mode: number) {
    this.inode = inode;
    this.mode = mode;
  }
}

/** Memory that is a file: it outlives the process that maps it, and a power cut takes what was not synced. */
export interface MappedFile {
  /** A process that had it mapped was killed. */
  unmap(): void;
  lose(random: Random): void;
  /** Of another disk, as a copy of the file has it. */
  copy(): MappedFile;
  readonly bytes: number;
}

export class DirectoryNode {
  readonly kind = "directory";
  readonly inode: number;
  readonly children = new Map<string, DiskNode>();
  mode: number;
  modifiedMs = 0;

  constructor(inode: number, mode: number) {
    this.inode = inode;
    this.mode = mode;
  }
}

export type DiskNode = FileNode | DirectoryNode;

/** A file as a process has it open. */
export class OpenFile {
  readonly node: DiskNode;
  readonly appends: boolean;
  position = 0;

  constructor(node: DiskNode, appends: boolean) {
    this.node = node;
    this.appends = appends;
    if (node.kind === "file") node.openCount++;
  }

  close(): void {
    if (this.node.kind === "file") this.node.openCount--;
  }
}

/** What changed in the names of folders, which a power cut undoes from the newest back. */
type NameChange = {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly before: DiskNode | undefined;
  readonly after: DiskNode | undefined;
};

/** What goes wrong with the disk at present. */
export type DiskFaults = {
  /** Of each sync, that it fails. */
  syncFailure: number;
  /** Milliseconds that a sync takes. */
  syncMs: number;
  /** Bytes on it at most. */
  capacity: number;
  /** When others filled it, in true time. */
  filledAt: number;
};

const HEALTHY: Readonly<DiskFaults> = { syncFailure: 0, syncMs: 0.3, capacity: 2 ** 36, filledAt: Infinity };

/**
 * A disk with its file system. What a process writes is seen at once, and stays when it is killed. A power cut leaves of each file what was synced, and of
 * the rest any part; of names those whose folder was synced, and of the rest the older changes, as a journal has them.
 */
export class Disk {
  readonly root: DirectoryNode;
  readonly faults: DiskFaults = { ...HEALTHY };
  readonly #random: Random;
  readonly #now: () => number;
  #inodes = 0;
  /** Oldest first; changes of one rename are one entry. */
  #names: NameChange[][] = [];
  /** All files, those without a name too. */
  readonly #files = new Set<FileNode>();
  /** Writes, truncations, syncs and changes of names so far. */
  changes = 0;
  /** Called before each of them with its number, to crash there. */
  beforeChange: ((change: number, name: string) => void) | undefined;

  constructor(random: Random, now: () => number) {
    this.#random = random;
    this.#now = now;
    this.root = new DirectoryNode(++this.#inodes, 0o755);
    for (const name of ["home", "tmp"]) this.root.children.set(name, new DirectoryNode(++this.#inodes, 0o755));
  }

  /** Nothing of it fails at present. */
  get isSound(): boolean {
    return this.faults.syncFailure === 0 && this.faults.capacity === HEALTHY.capacity;
  }

  heal(): void {
    Object.assign(this.faults, HEALTHY);
  }

  find(path: string): DiskNode | undefined {
    let node: DiskNode | undefined = this.root;
    for (const name of namesOf(path)) {
      if (node?.kind !== "directory") return undefined;
      node = node.children.get(name);
    }
    return node;
  }

  directory(path: string, syscall: string): DirectoryNode {
    const node = this.find(path);
    if (node === undefined) throw new FileError("ENOENT", syscall, path);
    if (node.kind !== "directory") throw new FileError("ENOTDIR", syscall, path);
    return node;
  }

  createFile(path: string, mode: number): FileNode {
    const [directory, name] = this.#place(path, "open");
    this.#step(`create ${path}`);
    const file = new FileNode(++this.#inodes, mode);
    file.modifiedMs = this.#now();
    this.#files.add(file);
    this.#rename([{ directory, name, before: undefined, after: file }]);
    return file;
  }

  makeDirectory(path: string, mode: number): void {
    const [directory, name] = this.#place(path, "mkdir");
    if (directory.children.has(name)) throw new FileError("EEXIST", "mkdir", path);
    this.#step(`mkdir ${path}`);
    this.#rename([{ directory, name, before: undefined, after: new DirectoryNode(++this.#inodes, mode) }]);
  }

  rename(from: string, to: string): void {
    const [source, sourceName] = this.#place(from, "rename");
    const node = source.children.get(sourceName);
    if (node === undefined) throw new FileError("ENOENT", "rename", from);
    const [target, targetName] = this.#place(to, "rename");
    const replaced = target.children.get(targetName);
    if (replaced?.kind === "directory" && replaced.children.size > 0) throw new FileError("ENOTEMPTY", "rename", to);
    this.#step(`rename ${to}`);
    this.#rename([
      { directory: source, name: sourceName, before: node, after: undefined },
      { directory: target, name: targetName, before: replaced, after: node },
    ]);
    if (replaced?.kind === "file") replaced.isLinked = false;
  }

  /** A file, or a folder without content. */
  remove(path: string): void {
    const [directory, name] = this.#place(path, "unlink");
    const node = directory.children.get(name);
    if (node === undefined) throw new FileError("ENOENT", "unlink", path);
    this.#step(`unlink ${path}`);
    this.#rename([{ directory, name, before: node, after: undefined }]);
    if (node.kind === "file") node.isLinked = false;
  }

  write(file: FileNode, bytes: Uint8Array, at: number): void {
    this.#step("write");
    const grows = Math.max(0, at + bytes.length - file.content.size);
    if (grows > 0 && this.usedBytes() + grows > this.faults.capacity) throw new FileError("ENOSPC", "write", "");
    file.content.write(bytes, at);
    file.modifiedMs = this.#now();
  }

  truncate(file: FileNode, size: number): void {
    this.#step("ftruncate");
    file.content.truncate(size);
    file.modifiedMs = this.#now();
  }

  /** @throws FileError EIO, once: the next sync of the same file succeeds although bytes were lost, as on Linux */
  sync(node: DiskNode): void {
    this.#step("fsync");
    if (this.faults.syncFailure > 0 && this.#random.chance(this.faults.syncFailure)) {
      if (node.kind === "file") node.content.lose(this.#random);
      throw new FileError("EIO", "fsync", "");
    }
    if (node.kind === "file") node.content.sync();
    else this.#names = this.#names.filter((changes) => changes.every(({ directory }) => directory !== node));
  }

  /** Every change of a name so far stays. */
  syncNames(): void {
    this.#names = [];
  }

  /** Bytes of all files, those without a name that are open too. */
  usedBytes(): number {
    let bytes = 0;
    for (const file of this.#files) {
      if (!file.isLinked && file.openCount === 0) this.#files.delete(file);
      else bytes += file.content.size + (file.mapped?.bytes ?? 0);
    }
    return bytes;
  }

  /** Bytes of files that no folder names, and that a process has open. */
  unlinkedBytes(): number {
    let bytes = 0;
    for (const file of this.#files) if (!file.isLinked && file.openCount > 0) bytes += file.content.size;
    return bytes;
  }

  /** The machine loses its power. */
  powerCut(): void {
    const stays = this.#random.below(this.#names.length + 1);
    for (const changes of this.#names.splice(0).slice(stays).toReversed()) {
      for (const { directory, name, before, after } of changes.toReversed()) {
        if (before === undefined) directory.children.delete(name);
        else directory.children.set(name, before);
        if (before?.kind === "file") before.isLinked = true;
        if (after?.kind === "file") after.isLinked = false;
      }
    }
    for (const file of this.#files) {
      file.openCount = 0;
      file.content.lose(this.#random);
      file.mapped?.lose(this.#random);
    }
  }

  /** All below `path`, as a copy made file by file has it. */
  copyOf(path: string): DiskNode {
    const copy = (node: DiskNode): DiskNode => {
      if (node.kind === "file") {
        const file = new FileNode(++this.#inodes, node.mode);
        file.content = node.content.copy();
        file.mapped = node.mapped?.copy();
        return file;
      }
      const directory = new DirectoryNode(++this.#inodes, node.mode);
      for (const [name, child] of node.children) directory.children.set(name, copy(child));
      return directory;
    };
    const found = this.find(path);
    if (found === undefined) throw new FileError("ENOENT", "copy", path);
    return copy(found);
  }

  /** Puts a copy in the place of what is at `path`, synced. undefined: removes what is there. */
  replace(path: string, node: DiskNode | undefined): void {
    const [directory, name] = this.#place(path, "replace");
    const add = (each: DiskNode) => {
      if (each.kind === "file") this.#files.add(each);
      else for (const child of each.children.values()) add(child);
    };
    const forget = (each: DiskNode) => {
      if (each.kind === "file") each.isLinked = false;
      else for (const child of each.children.values()) forget(child);
    };
    const before = directory.children.get(name);
    if (before) forget(before);
    if (node === undefined) directory.children.delete(name);
    else {
      add(node);
      directory.children.set(name, node);
    }
    this.#names = [];
  }

  /** Files below `path`, with their paths. */
  *filesBelow(path: string): Generator<readonly [path: string, file: FileNode]> {
    const node = this.find(path);
    if (node?.kind === "file") yield [path, node];
    if (node?.kind !== "directory") return;
    for (const name of node.children.keys()) yield* this.filesBelow(`${path}/${name}`);
  }

  #step(name: string): void {
    this.beforeChange?.(++this.changes, name);
  }

  #rename(changes: NameChange[]): void {
    for (const { directory, name, after } of changes) {
      if (after === undefined) directory.children.delete(name);
      else directory.children.set(name, after);
    }
    this.#names.push(changes);
  }

  #place(path: string, syscall: string): [DirectoryNode, string] {
    const end = path.lastIndexOf("/");
    return [this.directory(path.slice(0, end) || "/", syscall), path.slice(end + 1)];
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}
