/** A fault: what is written to the journal of the pool gets there some time later, unless the process dies before. */
import fs from "node:fs";

const LATE_MS = 150;
const journals = new Set();
const { openSync, writeSync, closeSync } = fs;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (`${path}`.endsWith(".journal")) journals.add(fd);
  else journals.delete(fd);
  return fd;
};
fs.writeSync = (fd, bytes, ...rest) => {
  if (!journals.has(fd)) return writeSync(fd, bytes, ...rest);
  const copy = bytes.slice();
  setTimeout(() => journals.has(fd) && writeSync(fd, copy, ...rest), LATE_MS);
  return bytes.length;
};
fs.closeSync = (fd) => {
  journals.delete(fd);
  closeSync(fd);
};
