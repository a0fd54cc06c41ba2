/** `node:path` for the paths of `files/`: POSIX paths, and `/` is the current directory. */
export const delimiter = ":";

export function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    const isParentKnown = parts.length > 0 && parts.at(-1) !== "..";
    if (part !== "..") parts.push(part);
    else if (isParentKnown) parts.pop();
    else if (!isAbsolute(path)) parts.push(part);
  }
  const joined = parts.join("/");
  return isAbsolute(path) ? `/${joined}` : joined || ".";
}

export function join(...parts: readonly string[]): string {
  return normalize(parts.filter((part) => part !== "").join("/"));
}

export function resolve(...parts: readonly string[]): string {
  const start = parts.findLastIndex(isAbsolute);
  return normalize(`/${parts.slice(Math.max(0, start)).join("/")}`);
}

export function dirname(path: string): string {
  const end = path.lastIndexOf("/");
  if (end < 0) return ".";
  return end === 0 ? "/" : path.slice(0, end);
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function relative(from: string, to: string): string {
  const [start, end] = [from, to].map((path) => resolve(path).split("/").filter(Boolean));
  let shared = 0;
  while (shared < start!.length && start![shared] === end![shared]) shared++;
  return [...start!.slice(shared).map(() => ".."), ...end!.slice(shared)].join("/");
}
