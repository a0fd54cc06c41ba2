import type { LogFile } from "../../../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../../../store/storage/log/memory-log-directory.ts";

/** A file system call failed; `code` is the operating system's code for the same fault. */
export class FileError extends Error {
  readonly code: FileErrorCode;
  constructor(code: FileErrorCode, path: string, options?: ErrorOptions) {
    super(`${code}: ${path}`, options);
    this.name = "FileError";
    this.code = code;
  }
}

type FileErrorCode =
  | "EBADF"
  | "EEXIST"
  | "EISDIR"
  | "ENAMETOOLONG"
  | "ENFILE"
  | "ENOENT"
  | "ENOSPC"
  | "ENOTDIR"
  | "ENOTEMPTY";

/** Storage of file contents. A file's `close` frees its space; files of the tree stay open. */
export type FileStore = {
  /** Whether the files outlive the thread. */
  readonly isDurable: boolean;
  /** Bytes that can still be written. */
  freeBytes(): number;
  /** Creates an empty file. Its name is durable when this returns. @throws FileError ENFILE, ENOSPC */
  create(path: string): LogFile;
  /** Renames a file durably: a crash afterwards leaves it only under its new name. */
  rename(file: LogFile, path: string): void;
  /** Removes the file's name, so that a crash frees it. */
  unlink(file: LogFile): void;
};

/** Contents that end with the thread. */
function createMemoryFileStore(): FileStore {
  return {
    isDurable: false,
    // The maximum of an ArrayBuffer; the real limit shows only when it is reached.
    freeBytes: () => 2 ** 32,
    create: () => createMemoryLogDirectory().open(""),
    rename() {},
    unlink() {},
  };
}

export type FileNode = {
  readonly kind: "file";
  readonly content: LogFile;
  readonly inode: number;
  mode: number;
  modifiedMs: number;
  /** Open descriptors. */
  openCount: number;
  isUnlinked: boolean;
};

type DirectoryNode = {
  readonly kind: "directory";
  readonly inode: number;
  mode: number;
  modifiedMs: number;
  readonly children: Map<string, TreeNode>;
  /** Storage of files created below it. */
  readonly store: FileStore;
};

export type TreeNode = FileNode | DirectoryNode;

/** The files and folders that this thread's modules see; paths are absolute and normalised. */
export class FileTree {
  #inodes = 0;
  readonly #root = this.#directory(createMemoryFileStore());

  /** undefined if it does not exist */
  find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.#root;
    for (const name of namesOf(path)) {
      node = node?.kind === "directory" ? node.children.get(name) : undefined;
    }
    return node;
  }

  /** @throws FileError ENOENT */
  get(path: string): TreeNode {
    const node = this.find(path);
    if (node === undefined) throw new FileError("ENOENT", path);
    return node;
  }

  /** @throws FileError ENOENT, ENOTDIR */
  directory(path: string): DirectoryNode {
    const node = this.get(path);
    if (node.kind !== "directory") throw new FileError("ENOTDIR", path);
    return node;
  }

  /** @throws FileError ENOENT, EISDIR */
  file(path: string): FileNode {
    const node = this.get(path);
    if (node.kind !== "file") throw new FileError("EISDIR", path);
    return node;
  }

  /** Whether files below `path`, which may be missing, outlive the thread. */
  isDurable(path: string): boolean {
    let node = this.#root;
    for (const name of namesOf(path)) {
      const child: TreeNode | undefined = node.children.get(name);
      if (child?.kind !== "directory") break;
      node = child;
    }
    return node.store.isDurable;
  }

  /** Creates an empty file. @throws FileError */
  createFile(path: string, mode: number): FileNode {
    const parent = this.#parent(path);
    return this.#link(parent, path, parent.store.create(path), mode);
  }

  /** Adds a file that `store` already holds. Creates missing folders. */
  addStored(path: string, store: FileStore, content: LogFile): void {
    this.#link(this.makeDirectories(path.slice(0, path.lastIndexOf("/")), store), path, content);
  }

  /** The folder at `path`; creates it and missing parents. @throws FileError ENOTDIR, EEXIST */
  makeDirectories(path: string, store?: FileStore, mode = 0o777): DirectoryNode {
    let at = this.#root;
    for (const name of namesOf(path)) {
      const next = at.children.get(name) ?? this.#directory(store ?? at.store, mode);
      if (next.kind === "file") throw new FileError("EEXIST", path);
      at.children.set(name, next);
      at = next;
    }
    return at;
  }

  /** @throws FileError EEXIST, ENOENT */
  makeDirectory(path: string, mode?: number): void {
    if (this.find(path)) throw new FileError("EEXIST", path);
    const parent = this.#parent(path);
    parent.children.set(nameOf(path), this.#directory(parent.store, mode));
  }

  /** Replaces a file at `to`. Files of a folder are renamed one by one. @throws FileError */
  rename(from: string, to: string): void {
    const node = this.get(from);
    const target = this.find(to);
    const parent = this.#parent(to);
    if (target?.kind === "directory" && target.children.size > 0) {
      throw new FileError("ENOTEMPTY", to);
    }
    if (node === target) return;
    for (const [path, file] of filesBelow(node, to)) parent.store.rename(file.content, path);
    if (target?.kind === "file") this.#unlink(target, parent.store);
    this.#parent(from).children.delete(nameOf(from));
    parent.children.set(nameOf(to), node);
  }

  /** @throws FileError ENOENT, EISDIR */
  removeFile(path: string): void {
    const file = this.file(path);
    const parent = this.#parent(path);
    parent.children.delete(nameOf(path));
    this.#unlink(file, parent.store);
  }

  /** Removes a file, or a folder with all its contents. @throws FileError ENOENT */
  removeAll(path: string): void {
    const node = this.get(path);
    const parent = this.#parent(path);
    parent.children.delete(nameOf(path));
    for (const [, file] of filesBelow(node, path)) this.#unlink(file, parent.store);
  }

  /** Unmounts the folder at `path`; does not change its contents. */
  forget(path: string): void {
    this.#parent(path).children.delete(nameOf(path));
  }

  #unlink(file: FileNode, store: FileStore): void {
    store.unlink(file.content);
    file.isUnlinked = true;
    if (file.openCount === 0) file.content.close();
  }

  #link(parent: DirectoryNode, path: string, content: LogFile, mode = 0o600): FileNode {
    const node: FileNode = {
      kind: "file",
      content,
      inode: ++this.#inodes,
      mode,
      modifiedMs: Date.now(),
      openCount: 0,
      isUnlinked: false,
    };
    parent.children.set(nameOf(path), node);
    return node;
  }

  #directory(store: FileStore, mode = 0o777): DirectoryNode {
    const inode = ++this.#inodes;
    return { kind: "directory", inode, mode, modifiedMs: Date.now(), children: new Map(), store };
  }

  #parent(path: string): DirectoryNode {
    return this.directory(path.slice(0, path.lastIndexOf("/")));
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter(Boolean);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function* filesBelow(node: TreeNode, path: string): Generator<[path: string, file: FileNode]> {
  if (node.kind === "file") yield [path, node];
  else for (const [name, child] of node.children) yield* filesBelow(child, `${path}/${name}`);
}
