import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "../platform/fs.ts";
import { dirname, join } from "../platform/path.ts";

/** Files of a home by their path in it, `data/log/0000000000000000.log` for instance. */
export type HomeFiles = ReadonlyMap<string, Uint8Array>;

export function exportHome(path: string): HomeFiles {
  return new Map(filesBelow(path).map((name) => [name, readFileSync(join(path, name))]));
}

/** Writes the files of a home, and returns when they are durable. */
export function importHome(path: string, files: HomeFiles): void {
  for (const [name, content] of files) {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    const fd = openSync(file, "wx");
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function filesBelow(root: string, folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(root, name) : [name];
  });
}
