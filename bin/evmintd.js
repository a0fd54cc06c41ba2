#!/usr/bin/env node
// Plain JavaScript, and the checks come first: it has to explain itself on an old Node and on a clone nobody built. CommonJS, because
// Node's loader of modules costs a start some 7 ms of CPU time (ADR 45).
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`evmintd needs Node.js 20.19 or newer; this is ${process.version}\n`);
  process.exit(1);
}
const { existsSync } = require("node:fs");
const entry = require("node:path").join(__dirname, "../dist/bundle/evmintd.cjs");
if (!existsSync(entry)) {
  process.stderr.write("evmintd is not built: run npm run build\n");
  process.exit(1);
}
require(entry);
