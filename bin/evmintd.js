#!/usr/bin/env node
// Plain JavaScript, and no import before the checks: it has to explain itself on an old Node and on a clone nobody built.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`evmintd needs Node.js 20.19 or newer; this is ${process.version}\n`);
  process.exit(1);
}
const { existsSync } = await import("node:fs");
const entry = new URL("../dist/bundle/evmintd.js", import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write("evmintd is not built: run npm run build\n");
  process.exit(1);
}
await import(entry.href);
