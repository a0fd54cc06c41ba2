import { FileError, type FileNode, FileTree, type TreeNode } from "./file-tree.ts";
import { resolve } from "./path.ts";
import { decodeText, type Encoding, encodeText } from "./text-encodings.ts";

/** The subset of `node:fs` that this node uses, over the files of this thread. Links do not exist, and modes are ignored. */

/** Shared by all modules, like the operating system's. Folders in OPFS are mounted in it. */
export const fileTree = new FileTree();
for (const path of ["/home", "/tmp"]) fileTree.makeDirectories(path);

const descriptors = new Map<number, FileNode>();
let lastDescriptor = 2;

export const constants = { O_RDWR: 2, O_CREAT: 0o100, O_NONBLOCK: 0o4000 } as const;

type Stats = {
  readonly size: number;
  readonly ino: number;
  readonly mode: number;
  readonly mtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
};
type StatOptions = { readonly throwIfNoEntry?: boolean };

export function statSync(path: string, options?: StatOptions & { throwIfNoEntry?: true }): Stats;
export function statSync(path: string, options: StatOptions): Stats | undefined;
export function statSync(path: string, { throwIfNoEntry = true }: StatOptions = {}) {
  const at = resolve(path);
  const node = throwIfNoEntry ? fileTree.get(at) : fileTree.find(at);
  return node && statsOf(node);
}

export const lstatSync = statSync;

export function fstatSync(fd: number): Stats {
  return statsOf(fileOf(fd));
}

export function existsSync(path: string): boolean {
  return fileTree.find(resolve(path)) !== undefined;
}

export function realpathSync(path: string): string {
  fileTree.get(resolve(path));
  return resolve(path);
}

export function chmodSync(path: string, mode: number): void {
  fileTree.get(resolve(path)).mode = mode;
}

export function statfsSync(path: string): { readonly bavail: number; readonly bsize: number } {
  return { bavail: fileTree.directory(resolve(path)).store.freeBytes(), bsize: 1 };
}

export function mkdirSync(
  path: string,
  { recursive = false, mode }: { readonly recursive?: boolean; readonly mode?: number } = {},
): void {
  if (recursive) fileTree.makeDirectories(resolve(path), undefined, mode);
  else fileTree.makeDirectory(resolve(path), mode);
}

export function readdirSync(path: string, options?: { readonly withFileTypes?: false }): string[];
export function readdirSync(
  path: string,
  options: { readonly withFileTypes: true },
): { readonly name: string; isFile(): boolean; isDirectory(): boolean }[];
export function readdirSync(path: string, options: { readonly withFileTypes?: boolean } = {}) {
  const { children } = fileTree.directory(resolve(path));
  if (options.withFileTypes !== true) return [...children.keys()];
  return Array.from(children, ([name, { kind }]) => ({
    name,
    isFile: () => kind === "file",
    isDirectory: () => kind === "directory",
  }));
}

export function renameSync(from: string, to: string): void {
  fileTree.rename(resolve(from), resolve(to));
}

export function unlinkSync(path: string): void {
  fileTree.removeFile(resolve(path));
}

export function rmSync(
  path: string,
  { recursive = false, force = false }: { recursive?: boolean; force?: boolean } = {},
): void {
  const at = resolve(path);
  if (force && !fileTree.find(at)) return;
  if (recursive) fileTree.removeAll(at);
  else fileTree.removeFile(at);
}

/** Opens a file of the tree; for a folder, returns the descriptor for `fsync`. */
export function openSync(path: string, flags: string | number = "r", mode = 0o666): number {
  const at = resolve(path);
  const found = fileTree.find(at);
  const isExclusive = typeof flags === "string" && flags.includes("x");
  const mayCreate = typeof flags === "string" ? /[wa]/.test(flags) : (flags & constants.O_CREAT) !== 0;
  if (found && isExclusive) throw new FileError("EEXIST", path);
  if (!found && !mayCreate) throw new FileError("ENOENT", path);
  if (found?.kind === "directory" && mayCreate) throw new FileError("EISDIR", path);
  const fd = ++lastDescriptor;
  if (found?.kind === "directory") return fd;
  const file = found ?? fileTree.createFile(at, mode);
  if (found && typeof flags === "string" && flags.startsWith("w")) file.content.truncate(0);
  file.openCount++;
  descriptors.set(fd, file);
  return fd;
}

export function closeSync(fd: number): void {
  const file = descriptors.get(fd);
  descriptors.delete(fd);
  if (file === undefined) return;
  file.openCount--;
  if (file.isUnlinked && file.openCount === 0) file.content.close();
}

/** Names are durable when a file is created or renamed, so a folder has nothing to sync. */
export function fsyncSync(fd: number): void {
  descriptors.get(fd)?.content.sync();
}

export const fdatasyncSync = fsyncSync;

export function ftruncateSync(fd: number, size = 0): void {
  const file = fileOf(fd);
  file.content.truncate(size);
  file.modifiedMs = Date.now();
}

export function readSync(fd: number, into: Uint8Array, offset: number, length: number, position: number): number {
  return fileOf(fd).content.read(into.subarray(offset, offset + length), position);
}

export function writeSync(
  fd: number,
  data: Uint8Array | string,
  offset = 0,
  length?: number,
  position?: number,
): number {
  const file = fileOf(fd);
  // As in Node: for a string, the second argument is the position.
  const bytes = typeof data === "string" ? decodeText(data) : data.subarray(offset, offset + (length ?? Infinity));
  const at = typeof data === "string" ? offset : (position ?? file.content.size());
  file.content.write(bytes, at);
  file.modifiedMs = Date.now();
  return bytes.length;
}

export function readFileSync(path: string | number): Uint8Array;
export function readFileSync(path: string | number, encoding: Encoding): string;
export function readFileSync(path: string | number, encoding?: Encoding): Uint8Array | string {
  const { content } = typeof path === "number" ? fileOf(path) : fileTree.file(resolve(path));
  const bytes = Buffer.allocUnsafe(content.size());
  content.read(bytes, 0);
  return encoding === undefined ? bytes : encodeText(bytes, encoding);
}

type WriteOptions = { readonly flag?: string; readonly mode?: number };

export function writeFileSync(
  target: string | number,
  data: string | Uint8Array,
  { flag = "w", mode }: WriteOptions = {},
): void {
  const bytes = typeof data === "string" ? decodeText(data) : data;
  if (typeof target === "number") return void writeSync(target, bytes);
  const fd = openSync(target, flag, mode);
  try {
    writeSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

export function appendFileSync(path: string, data: string | Uint8Array): void {
  writeFileSync(path, data, { flag: "a" });
}

function fileOf(fd: number): FileNode {
  const file = descriptors.get(fd);
  if (file === undefined) throw new FileError("EBADF", String(fd));
  return file;
}

function statsOf(node: TreeNode): Stats {
  return {
    size: node.kind === "file" ? node.content.size() : 0,
    ino: node.inode,
    mode: node.mode,
    mtimeMs: node.modifiedMs,
    isFile: () => node.kind === "file",
    isDirectory: () => node.kind === "directory",
  };
}

/** `node:fs/promises` over the same files. */
export const chmod = async (path: string, mode: number) => chmodSync(path, mode);
export const lstat = async (path: string) => lstatSync(path);
export const stat = lstat;
export const readdir = async (path: string) => readdirSync(path);
export const unlink = async (path: string) => unlinkSync(path);
export const rm = async (...args: Parameters<typeof rmSync>) => rmSync(...args);

export async function open(path: string, flags?: string, mode?: number) {
  const fd = openSync(path, flags, mode);
  return {
    stat: async () => fstatSync(fd),
    writeFile: async (content: Uint8Array) => writeFileSync(fd, content),
    sync: async () => fsyncSync(fd),
    readFile: async (encoding: Encoding) => readFileSync(fd, encoding),
    close: async () => closeSync(fd),
  };
}
