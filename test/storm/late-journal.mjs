/**
 * A fault: what is written to the journal of the pool is there once so many later writes are, unless the process dies before. Nobody waits: a process that dies
 * loses the newest ones.
 */
import fs from "node:fs";

const WRITES_LATE = 2;
/** Writes of the journals that are not there yet, by file, the oldest first. */
const late = new Map();
const { openSync, writeSync, closeSync } = fs;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  late.delete(fd);
  if (`${path}`.endsWith(".journal")) late.set(fd, []);
  return fd;
};
fs.writeSync = (fd, bytes, ...rest) => {
  const writes = late.get(fd);
  if (writes === undefined) return writeSync(fd, bytes, ...rest);
  writes.push([bytes.slice(), ...rest]);
  while (writes.length > WRITES_LATE) writeSync(fd, ...writes.shift());
  return bytes.length;
};
fs.closeSync = (fd) => {
  for (const write of late.get(fd) ?? []) writeSync(fd, ...write);
  late.delete(fd);
  closeSync(fd);
};
