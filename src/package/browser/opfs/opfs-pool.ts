import { LockedError } from "../../../store/storage/lock-error.ts";
import { randomUUID } from "../platform/crypto.ts";
import { FileError, type FileStore } from "../platform/file-tree.ts";
import { setTimeout } from "../platform/timers-promises.ts";
import { type OpfsDirectory, type OpfsFile, type SyncAccessHandle, web } from "../web.ts";
import { PoolFile } from "./pool-file.ts";

/** Folder of the origin, with one folder per chain. */
const FOLDER = "evmint";
/** Open but unused files: opening one takes a promise, and the node creates files synchronously. A start creates ten. */
const FREE_FILES = 24;
/** The worker of a closed or reloaded tab ends a little later. */
const LOCKED_WAIT_MS = 2_000;
const LOCKED_STEP_MS = 50;

/**
 * The files of one chain in the origin's private file system (OPFS). All stay open, under meaningless names: opening a file there takes a
 * promise, renaming an open one does not.
 */
export class OpfsPool implements FileStore {
  readonly isDurable = true;
  readonly #directory: OpfsDirectory;
  readonly #root: string;
  readonly #all: PoolFile[] = [];
  readonly #free: PoolFile[] = [];
  #generation = 0;
  #freeBytes = 0;
  #refill: Promise<void> | undefined;
  #isClosed = false;

  private constructor(directory: OpfsDirectory, root: string) {
    this.#directory = directory;
    this.#root = root;
  }

  /**
   * Opens the files of the chain `name`, initially empty.
   * @param root path of the folder where they appear
   * @throws LockedError while another tab or worker has them open
   */
  static async open(name: string, root: string): Promise<OpfsPool> {
    const pool = new OpfsPool(await chainFolder(name), root);
    try {
      await pool.#openAll();
      await pool.#fill();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Files with a name, with their path below the root. */
  *stored(): Generator<[path: string, file: PoolFile]> {
    const newest = new Map<string, { readonly file: PoolFile; readonly generation: number }>();
    for (const file of this.#all) {
      const { path, generation } = file.name() ?? {};
      if (path === undefined || generation === undefined) continue;
      this.#generation = Math.max(this.#generation, generation);
      const other = newest.get(path);
      if (other === undefined || other.generation < generation) newest.set(path, { file, generation });
    }
    const used = new Set(Array.from(newest.values(), ({ file }) => file));
    for (const file of this.#all) if (!used.has(file)) this.#putBack(file);
    for (const [path, { file }] of newest) yield [`${this.#root}/${path}`, file];
  }

  freeBytes(): number {
    return this.#freeBytes;
  }

  create(path: string): PoolFile {
    const file = this.#free.at(-1);
    if (file === undefined) throw new FileError("ENFILE", path);
    this.rename(file, path);
    this.#free.pop();
    this.#refill ??= this.#fill().finally(() => {
      this.#refill = undefined;
    });
    return file;
  }

  rename(file: PoolFile, path: string): void {
    file.setName({ path: path.slice(this.#root.length + 1), generation: ++this.#generation });
  }

  unlink(file: PoolFile): void {
    file.clearName();
  }

  /** Lets other tabs open the chain. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#refill;
    for (const file of this.#all) file.release();
  }

  async #openAll(): Promise<void> {
    const entries: OpfsFile[] = [];
    for await (const [, entry] of this.#directory.entries()) {
      if (entry.kind === "file") entries.push(entry);
    }
    const handles = await Promise.all(entries.map((entry) => openWhenUnlocked(entry, this.#root)));
    for (const handle of handles) this.#add(handle);
  }

  /** Opens files until enough are free, and queries the remaining quota. */
  async #fill(): Promise<void> {
    while (this.#free.length < FREE_FILES && !this.#isClosed) {
      const missing = Array.from({ length: FREE_FILES - this.#free.length }, () => this.#make());
      this.#free.push(...(await Promise.all(missing)));
    }
    const { quota = 0, usage = 0 } = await web.navigator!.storage.estimate();
    this.#freeBytes = quota - usage;
  }

  async #make(): Promise<PoolFile> {
    const entry = await this.#directory.getFileHandle(randomUUID(), { create: true });
    return this.#add(await entry.createSyncAccessHandle());
  }

  #add(handle: SyncAccessHandle): PoolFile {
    const file = new PoolFile(handle, (freed) => this.#putBack(freed));
    this.#all.push(file);
    return file;
  }

  #putBack(file: PoolFile): void {
    file.clear();
    this.#free.push(file);
  }
}

async function chainFolder(name: string): Promise<OpfsDirectory> {
  const origin = await web.navigator!.storage.getDirectory();
  const folder = await origin.getDirectoryHandle(FOLDER, { create: true });
  return folder.getDirectoryHandle(name, { create: true });
}

/** @throws LockedError */
async function openWhenUnlocked(entry: OpfsFile, path: string): Promise<SyncAccessHandle> {
  for (let waited = 0; ; waited += LOCKED_STEP_MS) {
    try {
      return await entry.createSyncAccessHandle();
    } catch (error) {
      const isLocked = error instanceof Error && error.name === "NoModificationAllowedError";
      if (!isLocked) throw error;
      if (waited >= LOCKED_WAIT_MS) throw new LockedError({ path, pid: undefined });
    }
    await setTimeout(LOCKED_STEP_MS);
  }
}

/** Removes the stored chain `name`, if it exists. No tab may have it open. */
export async function removeChain(name: string): Promise<void> {
  await chainFolder(name);
  const origin = await web.navigator!.storage.getDirectory();
  const folder = await origin.getDirectoryHandle(FOLDER, { create: true });
  await folder.removeEntry(name, { recursive: true });
}
