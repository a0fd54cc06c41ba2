import { web } from "../web.ts";

/** `node:os` as far as settings and folders need it. */
export function homedir(): string {
  return "/home";
}

export function tmpdir(): string {
  return "/tmp";
}

export function availableParallelism(): number {
  return web.navigator?.hardwareConcurrency ?? 1;
}
