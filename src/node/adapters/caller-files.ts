import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, normalize, relative } from "node:path";
import { NodeError } from "../../base/errors.ts";
import { AdminError, FileNameError } from "../../rpc/methods/admin/node.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import type { Config } from "../config/config.ts";

/**
 * Files that callers may name. A relative name means a file below the home's `debug` folder; an absolute one is rejected unless
 * `debug.allow-absolute-paths` is set, and no link leads out.
 */
export type CallerFiles = {
  /**
   * Path of a file to create; creates its folder, not the file. Open it with O_EXCL.
   * @throws FileNameError, AdminError if the file exists
   */
  forWriting(name: string): string;
  /** Path of a regular file. @throws FileNameError, AdminError if it does not exist */
  forReading(name: string): string;
};

export function createCallerFiles({ home, files }: Pick<Config, "home" | "files">): CallerFiles {
  const folder = join(home, "debug");

  function pathOf(name: string): string {
    const wanted = name.startsWith("~/") ? join(homedir(), name.slice(2)) : name;
    if (wanted === "" || wanted.includes("\0")) throw new FileNameError("not a file name");
    const path = isAbsolute(wanted) ? normalize(wanted) : join(folder, wanted);
    if (!files.allowAbsolutePaths && !isBelow(path, folder)) {
      throw new FileNameError(`file names are relative to ${folder}; set debug.allow-absolute-paths for others`);
    }
    return path;
  }

  /** Neither the file nor a folder on its path may be a link that leads outside. */
  function assertInside(path: string): void {
    if (files.allowAbsolutePaths) return;
    const real = join(realpathSync(dirname(path)), path.slice(dirname(path).length));
    if (!isBelow(real, realpathSync(folder))) throw new FileNameError("a link points outside of it");
  }

  return {
    forWriting: refusedBySystem((name) => {
      const path = pathOf(name);
      makeFolder(folder);
      assertNoLinks(folder, dirname(path));
      makeFolder(dirname(path));
      assertInside(path);
      if (lstatSync(path, { throwIfNoEntry: false })) {
        throw new AdminError("location would overwrite an existing file");
      }
      return path;
    }),
    forReading: refusedBySystem((name) => {
      const path = pathOf(name);
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined) throw new AdminError(`no file ${name}`);
      assertInside(path);
      if (!found.isFile()) throw new FileNameError("not a regular file");
      return path;
    }),
  };
}

/** Reports system errors that the caller's name caused, such as a name that is too long or lies below a file, as the caller's fault. */
function refusedBySystem(find: (name: string) => string): (name: string) => string {
  return (name) => {
    try {
      return find(name);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (cause instanceof NodeError || code === undefined) throw cause;
      throw new FileNameError(`the system denies access (${code})`, {}, { cause });
    }
  };
}

/** Runs before folders are created: `mkdir -p` would follow a link and create them elsewhere. */
function assertNoLinks(base: string, path: string): void {
  if (!isBelow(path, base)) return;
  let current = base;
  for (const part of relative(base, path).split("/").filter(Boolean)) {
    current = join(current, part);
    const found = lstatSync(current, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isDirectory()) throw new FileNameError("a link or file is part of the path");
  }
}

/** Also true for `folder` itself. */
function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
