/** `node:fs` over the disk of the machine whose process runs, as far as the node uses it. */
import * as real from "node:fs";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { currentProcess, currentSimulation } from "../kernel/current.ts";
import { type DiskNode, FileError, type FileNode, OpenFile } from "../kernel/disk.ts";

/** Files of the package and of its dependencies, which are part of the program: they are read from the real disk. */
const PROGRAM_FILES = resolve(globalThis.process.cwd());

const isProgramFile = (path: string) => path.startsWith(PROGRAM_FILES);

export const constants = real.constants;

type Encoding = BufferEncoding;
type StatOptions = { readonly throwIfNoEntry?: boolean };

const pathOf = (path: string | URL) => resolve("/", path instanceof URL ? path.pathname : path);

function nodeAt(path: string, syscall: string): DiskNode {
  const node = currentProcess().disk.find(pathOf(path));
  if (node === undefined) throw new FileError("ENOENT", syscall, path);
  return node;
}

function statsOf(node: DiskNode) {
  return {
    size: node.kind === "file" ? node.content.size : 4_096,
    ino: node.inode,
    dev: 1,
    mode: node.mode,
    uid: 1_000,
    mtimeMs: node.modifiedMs,
    mtime: new Date(node.modifiedMs),
    isFile: () => node.kind === "file",
    isDirectory: () => node.kind === "directory",
    isSymbolicLink: () => false,
    isSocket: () => false,
  };
}

export function statSync(path: string | URL, { throwIfNoEntry = true }: StatOptions = {}) {
  const node = currentProcess().disk.find(pathOf(path));
  if (node === undefined && throwIfNoEntry) throw new FileError("ENOENT", "stat", String(path));
  return node && statsOf(node);
}

export const lstatSync = statSync;

export function fstatSync(fd: number) {
  return statsOf(openFile(fd).node);
}

export function existsSync(path: string | URL): boolean {
  if (currentSimulation()?.current === undefined || isProgramFile(String(path))) return real.existsSync(path);
  return currentProcess().disk.find(pathOf(path)) !== undefined;
}

/** Programs are where they are looked for first. */
export function accessSync(path: string): void {
  const { machine, disk } = currentProcess();
  if (machine.programs.has(path.slice(path.lastIndexOf("/") + 1))) return;
  if (disk.find(pathOf(path)) === undefined) throw new FileError("ENOENT", "access", path);
}

export function realpathSync(path: string): string {
  nodeAt(path, "realpath");
  return pathOf(path);
}

export function readlinkSync(path: string): string {
  if (path === "/proc/self/ns/pid") return "pid:[1]";
  throw new FileError("EINVAL", "readlink", path);
}

/** Disks here have no links: an index has its own disk in tests with a real one. */
export function symlinkSync(_target: string, path: string): void {
  throw new FileError("EPERM", "symlink", path);
}

export function chmodSync(path: string, mode: number): void {
  const { machine, disk } = currentProcess();
  const node = disk.find(pathOf(path));
  if (node) node.mode = mode;
  // A socket has a mode, and no file here.
  else if (!machine.listeners.has(path)) throw new FileError("ENOENT", "chmod", path);
}

export function utimesSync(path: string): void {
  nodeAt(path, "utimes").modifiedMs = currentProcess().machine.clock.wall();
}

export function statfsSync(path: string) {
  const { disk } = currentProcess();
  nodeAt(path, "statfs");
  return { bavail: Math.max(0, disk.faults.capacity - disk.usedBytes()), blocks: disk.faults.capacity, bsize: 1 };
}

export function mkdirSync(path: string, options: { recursive?: boolean; mode?: number } | number = {}): void {
  const { recursive = false, mode = 0o777 } = typeof options === "number" ? { mode: options } : options;
  const { disk } = currentProcess();
  const at = pathOf(path);
  if (!recursive) {
    disk.makeDirectory(at, mode);
    return;
  }
  for (let end = at.indexOf("/", 1); ; end = at.indexOf("/", end + 1)) {
    const part = end < 0 ? at : at.slice(0, end);
    if (disk.find(part) === undefined) disk.makeDirectory(part, mode);
    if (end < 0) return;
  }
}

export function mkdtempSync(prefix: string): string {
  const path = `${pathOf(prefix)}${currentProcess().random.uint32().toString(36)}`;
  mkdirSync(path);
  return path;
}

export function readdirSync(path: string, { withFileTypes = false }: { withFileTypes?: boolean } = {}) {
  const { children } = currentProcess().disk.directory(pathOf(path), "scandir");
  if (!withFileTypes) return [...children.keys()];
  return Array.from(children, ([name, { kind }]) => ({
    name,
    parentPath: path,
    isFile: () => kind === "file",
    isDirectory: () => kind === "directory",
  }));
}

export function renameSync(from: string, to: string): void {
  currentProcess().disk.rename(pathOf(from), pathOf(to));
}

export function unlinkSync(path: string): void {
  const { disk, machine } = currentProcess();
  if (machine.listeners.delete(pathOf(path))) return;
  disk.remove(pathOf(path));
}

export function rmSync(
  path: string,
  { recursive = false, force = false }: { recursive?: boolean; force?: boolean } = {},
) {
  const { disk, machine } = currentProcess();
  const at = pathOf(path);
  machine.listeners.delete(at);
  const node = disk.find(at);
  if (node === undefined) {
    if (force) return;
    throw new FileError("ENOENT", "rm", path);
  }
  if (node.kind === "directory") {
    if (!recursive) throw new FileError("ERR_FS_EISDIR", "rm", path);
    for (const name of [...node.children.keys()]) rmSync(`${at}/${name}`, { recursive, force });
  }
  disk.remove(at);
}

export function openSync(path: string, flags: string | number = "r", mode = 0o666): number {
  const process = currentProcess();
  const at = pathOf(path);
  const found = process.disk.find(at);
  const isText = typeof flags === "string";
  const isExclusive = isText && flags.includes("x");
  const mayCreate = isText ? /[wa]/.test(flags) : (flags & constants.O_CREAT) !== 0;
  const mayWrite =
    mayCreate || (isText ? flags.includes("+") : (flags & (constants.O_RDWR | constants.O_WRONLY)) !== 0);
  if (found && isExclusive) throw new FileError("EEXIST", "open", path);
  if (!found && !mayCreate) throw new FileError("ENOENT", "open", path);
  if (found?.kind === "directory" && mayWrite) throw new FileError("EISDIR", "open", path);
  const node = found ?? process.disk.createFile(at, mode);
  const truncates = isText ? flags.startsWith("w") : (flags & constants.O_TRUNC) !== 0;
  if (found?.kind === "file" && truncates && found.content.size > 0) process.disk.truncate(found, 0);
  const appends = isText ? flags.startsWith("a") : (flags & constants.O_APPEND) !== 0;
  return process.openFile(new OpenFile(node, appends));
}

export function closeSync(fd: number): void {
  openFile(fd).close();
  currentProcess().files.delete(fd);
}

export function fsyncSync(fd: number): void {
  const process = currentProcess();
  const { node } = openFile(fd);
  process.charge(process.disk.faults.syncMs);
  process.disk.sync(node);
}

export const fdatasyncSync = fsyncSync;

export function ftruncateSync(fd: number, size = 0): void {
  currentProcess().disk.truncate(fileOf(fd), size);
}

export function readSync(
  fd: number,
  into: NodeJS.ArrayBufferView,
  offset = 0,
  length = into.byteLength - offset,
  position: number | bigint | null = null,
): number {
  const file = openFile(fd);
  const at = position === null ? file.position : Number(position);
  const target = new Uint8Array(into.buffer, into.byteOffset + offset, length);
  const count = fileOf(fd).content.read(target, at);
  if (position === null) file.position += count;
  return count;
}

export function writeSync(
  fd: number,
  data: Uint8Array | string,
  offset?: number | null,
  length?: number | string | null,
  position?: number | null,
): number {
  const { disk, simulation } = currentProcess();
  const open = openFile(fd);
  const file = fileOf(fd);
  const isText = typeof data === "string";
  const bytes = isText
    ? Buffer.from(data)
    : data.subarray(offset ?? 0, (offset ?? 0) + ((length as number | undefined) ?? data.length));
  const given = isText ? offset : position;
  const at = open.appends ? file.content.size : (given ?? open.position);
  simulation.trace.bytes(bytes);
  disk.write(file, bytes, at);
  if (given === undefined || given === null) open.position = at + bytes.length;
  return bytes.length;
}

export function readFileSync(
  path: string | number | URL,
  options?: Encoding | { encoding?: Encoding },
): Buffer | string {
  const encoding = typeof options === "string" ? options : options?.encoding;
  const bytes = contentOf(path);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}

function contentOf(path: string | number | URL): Buffer {
  if (typeof path === "number") return Buffer.from(fileOf(path).content.bytes());
  const text = path instanceof URL ? path.pathname : path;
  if (currentSimulation()?.current === undefined || isProgramFile(text)) return real.readFileSync(path);
  if (text.startsWith("/proc/")) return Buffer.from(procFile(text));
  const node = nodeAt(text, "open");
  if (node.kind === "directory") throw new FileError("EISDIR", "read", text);
  return Buffer.from(node.content.bytes());
}

function procFile(path: string): string {
  const { machine } = currentProcess();
  if (path === "/proc/sys/kernel/random/boot_id") return `${machine.name}-boot-${machine.boots}\n`;
  throw new FileError("ENOENT", "open", path);
}

type WriteOptions = { readonly flag?: string; readonly mode?: number; readonly flush?: boolean } | Encoding;

export function writeFileSync(target: string | number, data: string | Uint8Array, options: WriteOptions = {}): void {
  const { flag = "w", mode = 0o666, flush = false } = typeof options === "string" ? {} : options;
  if (typeof target === "number") return void writeSync(target, data);
  const fd = openSync(target, flag, mode);
  try {
    writeSync(fd, data);
    if (flush) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function appendFileSync(path: string, data: string | Uint8Array): void {
  writeFileSync(path, data, { flag: "a" });
}

export function copyFileSync(from: string, to: string): void {
  writeFileSync(to, readFileSync(from) as Buffer);
}

export function createReadStream(path: string): Readable {
  return Readable.from([readFileSync(path) as Buffer]);
}

export function createWriteStream(path: string, { flags = "w" }: { flags?: string } = {}): Writable {
  return writableTo(openSync(path, flags), { flush: false });
}

/** @param options.flush syncs before it closes */
function writableTo(fd: number, { flush }: { readonly flush: boolean }): Writable {
  const finish = () => {
    if (flush) fsyncSync(fd);
    closeSync(fd);
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      later(() => void writeSync(fd, chunk)).then(() => done(), done);
    },
    final(done) {
      later(finish).then(() => done(), done);
    },
  });
}

function openFile(fd: number): OpenFile {
  const file = currentProcess().files.get(fd);
  if (file === undefined) throw new FileError("EBADF", "fd", String(fd));
  return file;
}

function fileOf(fd: number): FileNode {
  const { node } = openFile(fd);
  if (node.kind === "directory") throw new FileError("EISDIR", "read", String(fd));
  return node;
}

/** Asynchronous calls answer in a later turn, as after work in a thread of the system. */
async function later<T>(work: () => T): Promise<T> {
  const process = currentProcess();
  await new Promise<void>((done) => process.after(0.05, done));
  return work();
}

/** `node:fs/promises` over the same files. */
export const promises = {
  chmod: (path: string, mode: number) => later(() => chmodSync(path, mode)),
  lstat: (path: string) => later(() => lstatSync(path)),
  stat: (path: string) => later(() => statSync(path)),
  readdir: (path: string) => later(() => readdirSync(path)),
  unlink: (path: string) => later(() => unlinkSync(path)),
  rm: (...args: Parameters<typeof rmSync>) => later(() => rmSync(...args)),
  mkdir: (...args: Parameters<typeof mkdirSync>) => later(() => mkdirSync(...args)),
  rename: (from: string, to: string) => later(() => renameSync(from, to)),
  readFile: (...args: Parameters<typeof readFileSync>) => later(() => readFileSync(...args)),
  writeFile: (...args: Parameters<typeof writeFileSync>) => later(() => writeFileSync(...args)),
  async open(path: string, flags?: string, mode?: number) {
    const fd = await later(() => openSync(path, flags, mode));
    return {
      fd,
      stat: () => later(() => fstatSync(fd)),
      read: (into: Uint8Array, offset: number, length: number, position: number) =>
        later(() => ({ bytesRead: readSync(fd, into, offset, length, position), buffer: into })),
      write: (bytes: Uint8Array, offset?: number, length?: number, position?: number) =>
        later(() => ({ bytesWritten: writeSync(fd, bytes, offset, length, position) })),
      writeFile: (content: Uint8Array) => later(() => writeFileSync(fd, content)),
      readFile: (encoding: Encoding) => later(() => readFileSync(fd, encoding)),
      sync: () => later(() => fsyncSync(fd)),
      datasync: () => later(() => fsyncSync(fd)),
      close: () => later(() => closeSync(fd)),
      createWriteStream: (options: { readonly flush: boolean }) => writableTo(fd, options),
    };
  },
};

export const { chmod, lstat, stat, readdir, unlink, rm, mkdir, rename, readFile, writeFile, open } = promises;
