import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** State of a listening socket in /proc/net/tcp. */
const LISTEN = "0A";

/**
 * The process that listens on TCP `port`: `geth (process 4242)`. undefined where the system does not show it: not Linux, or
 * another user's process.
 */
export function portOwner(port: number): string | undefined {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((f) => listeners(f, port)));
  if (inodes.size === 0) return undefined;
  for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of entries(`/proc/${pid}/fd`)) {
      const target = attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
      const inode = /^socket:\[(\d+)\]$/.exec(target ?? "")?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const name = attempt(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
      return `${name ?? "a program"} (process ${pid})`;
    }
  }
  return undefined;
}

/** Inodes of the sockets that listen on `port`, by the columns of /proc/net/tcp. */
function listeners(file: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = attempt(() => readFileSync(file, "utf8").split("\n")) ?? [];
  return lines.flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    return columns[1]?.endsWith(`:${wanted}`) && columns[3] === LISTEN ? [columns[9]!] : [];
  });
}

function entries(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}

/** undefined for what this user may not read, or what has ended in between. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
