import * as fs from "./fs.ts";
import type { Encoding } from "./text-encodings.ts";

/** `node:fs/promises` over the same files. */
export const chmod = async (path: string, mode: number) => fs.chmodSync(path, mode);
export const lstat = async (path: string) => fs.lstatSync(path);
export const readdir = async (path: string) => fs.readdirSync(path);
export const unlink = async (path: string) => fs.unlinkSync(path);
export const rm = async (...args: Parameters<typeof fs.rmSync>) => fs.rmSync(...args);

export async function open(path: string, flags?: string, mode?: number) {
  const fd = fs.openSync(path, flags, mode);
  return {
    stat: async () => fs.fstatSync(fd),
    writeFile: async (content: Uint8Array) => fs.writeFileSync(fd, content),
    sync: async () => fs.fsyncSync(fd),
    readFile: async (encoding: Encoding) => fs.readFileSync(fd, encoding),
    close: async () => fs.closeSync(fd),
  };
}
